const SMALLEST_SHARE = 1e-4;

/**
 * Population stability index of counts in the same bins. Below 0.1 stable, above 0.25 a major shift; give each
 * window at least 500 values.
 */
export function populationStability(expected: readonly number[], actual: readonly number[]): number {
  const share = (counts: readonly number[]): number[] => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count) => Math.max(count / total, SMALLEST_SHARE));
  };
  const before = share(expected);
  return share(actual).reduce(
    (sum, now, bin) => sum + (now - (before[bin] as number)) * Math.log(now / (before[bin] as number)),
    0,
  );
}

/** Two-sample Kolmogorov-Smirnov distance, which is the effect's size, and its asymptotic p. */
export function kolmogorovSmirnov(a: readonly number[], b: readonly number[]): { distance: number; p: number } {
  const left = [...a].sort((x, y) => x - y);
  const right = [...b].sort((x, y) => x - y);
  let i = 0;
  let j = 0;
  let distance = 0;
  while (i < left.length && j < right.length) {
    const at = Math.min(left[i] as number, right[j] as number);
    while (i < left.length && (left[i] as number) <= at) i += 1;
    while (j < right.length && (right[j] as number) <= at) j += 1;
    distance = Math.max(distance, Math.abs(i / left.length - j / right.length));
  }
  const scaled = Math.sqrt((left.length * right.length) / (left.length + right.length)) * distance;
  let p = 0;
  for (let k = 1; k <= 100; k += 1) p += (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * k * k * scaled * scaled);
  return { distance, p: Math.min(1, Math.max(0, p)) };
}

/**
 * Which of several tests are findings at a false discovery rate (Benjamini and Hochberg 1995).
 *
 * @returns for each p, in its order, whether it is one.
 */
export function discoveries(ps: readonly number[], rate: number): boolean[] {
  const order = ps.map((p, i) => [p, i] as const).sort(([x], [y]) => x - y);
  let last = -1;
  order.forEach(([p], rank) => {
    if (p <= ((rank + 1) / ps.length) * rate) last = rank;
  });
  const found = new Array<boolean>(ps.length).fill(false);
  for (const [, i] of order.slice(0, last + 1)) found[i] = true;
  return found;
}
