/** The next round number at or above a maximum, so that the axis has few, readable steps. At least 1 when all is 0. */
export function niceTop(max: number): number {
  if (!(max > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= max) ?? 10;
  return step * power;
}

/** Indexes of at most `count` labels, evenly spread, with the first. */
export function labelIndexes(length: number, count: number): number[] {
  const every = Math.max(1, Math.ceil(length / count));
  return Array.from({ length: Math.ceil(length / every) }, (_, index) => index * every);
}
