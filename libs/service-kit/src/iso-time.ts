let knownMs = NaN;
let knownText = '';

/** RFC 3339 with milliseconds, in UTC. The text of a millisecond is made once, however many ask for it in turn. */
export function isoTime(epochMs: number): string {
  if (epochMs !== knownMs) {
    knownText = new Date(epochMs).toISOString();
    knownMs = epochMs;
  }
  return knownText;
}
