/** A sample at an instant; null where nothing was measured. */
export interface Sample {
  readonly atMs: number;
  readonly value: number | null;
}

/**
 * Fewer samples that draw the same line: of each bucket of equal time its first, smallest, largest and last value,
 * in the order in which they came (M4: Jugel, Jerzak, Hackenbroich, Markl, 2014). A spike of one sample is always
 * the largest or smallest of its bucket, so it stays at its own instant and height; methods that choose by area
 * (LTTB) or take means may lose it. A bucket without a value stays a gap, and so does a gap within a bucket that is
 * at least a bucket long.
 *
 * @param samples in order of time.
 * @param points at most so many come out, gaps included; at least 5.
 */
export function downsample(samples: readonly Sample[], points: number): Sample[] {
  if (samples.length <= points) return [...samples];
  const first = samples[0]?.atMs ?? 0;
  const span = (samples.at(-1)?.atMs ?? 0) - first + 1;
  // Each bucket gives four values or one gap, and a gap may be in one of four: five at most.
  const buckets = Math.max(1, Math.floor(points / 5));
  const out: Sample[] = [];
  let from = 0;
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const end = first + ((bucket + 1) * span) / buckets;
    let to = from;
    while (to < samples.length && (samples[to]?.atMs ?? 0) < end) to += 1;
    keep(samples, from, to, out);
    from = to;
  }
  return out;
}

/**
 * Adds what is kept of the samples in [from, to): four values in their order, and one gap where there is one
 * before, between or after them.
 */
function keep(samples: readonly Sample[], from: number, to: number, out: Sample[]): void {
  let first = -1;
  let last = -1;
  let smallest = -1;
  let largest = -1;
  let gap = -1;
  for (let i = from; i < to; i += 1) {
    const value = samples[i]?.value ?? null;
    if (value === null) {
      if (gap === -1) gap = i;
      continue;
    }
    if (first === -1) first = i;
    last = i;
    if (smallest === -1 || value < (samples[smallest]?.value ?? 0)) smallest = i;
    if (largest === -1 || value > (samples[largest]?.value ?? 0)) largest = i;
  }
  const kept = [...new Set([first, smallest, largest, last, gap])].filter((i) => i >= 0).toSorted((a, b) => a - b);
  for (const i of kept) {
    const sample = samples[i];
    if (sample !== undefined) out.push(sample);
  }
}
