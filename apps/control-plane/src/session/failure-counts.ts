import type { Clock } from '@sluice/contracts';

/** A count halves in so many milliseconds without another failure. */
const HALF_LIFE_MS = 5 * 60_000;
const KEPT = 10_000;

/** Recent failures by party, in memory: at most 10,000 parties, the one that failed longest ago is forgotten first. */
export interface FailureCounts {
  /** Recent failures, fractional because they fade; 0 for a party that is not known. */
  of(party: string): number;
  note(party: string): void;
}

export function createFailureCounts({ clock }: { clock: Pick<Clock, 'monotonic'> }): FailureCounts {
  const parties = new Map<string, { count: number; atMs: number }>();
  const of = (party: string): number => {
    const entry = parties.get(party);
    return entry === undefined ? 0 : entry.count * 0.5 ** ((clock.monotonic() - entry.atMs) / HALF_LIFE_MS);
  };
  return {
    of,
    note(party) {
      const count = of(party) + 1;
      parties.delete(party);
      parties.set(party, { count, atMs: clock.monotonic() });
      const [oldest] = parties.size > KEPT ? parties.keys() : [];
      if (oldest !== undefined) parties.delete(oldest);
    },
  };
}
