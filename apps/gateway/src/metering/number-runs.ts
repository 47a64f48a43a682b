/** A run of whole numbers, both ends included. */
export type Run = readonly [from: number, to: number];

/**
 * A set of whole numbers as its runs: it takes as much memory as there are gaps in it, however many numbers it
 * holds. Adding one is quickest near the end.
 */
export class NumberRuns {
  /** Ascending, with a gap between any two. */
  readonly #runs: [number, number][] = [];

  get runs(): readonly Run[] {
    return this.#runs;
  }

  add(from: number, to = from): void {
    const runs = this.#runs;
    let end = runs.length;
    while (end > 0 && (runs[end - 1] as Run)[0] > to + 1) end -= 1;
    let start = end;
    while (start > 0 && (runs[start - 1] as Run)[1] >= from - 1) start -= 1;
    const joined = runs[start];
    if (start === end || joined === undefined) {
      runs.splice(end, 0, [from, to]);
      return;
    }
    joined[0] = Math.min(joined[0], from);
    joined[1] = Math.max((runs[end - 1] as Run)[1], to);
    if (end - start > 1) runs.splice(start + 1, end - start - 1);
  }

  has(number: number): boolean {
    return this.#runs.some(([from, to]) => from <= number && number <= to);
  }

  /** Takes the first run out if it begins here; its last number. */
  takeFrom(from: number): number | undefined {
    return this.#runs[0]?.[0] === from ? this.#runs.shift()?.[1] : undefined;
  }

  clear(): void {
    this.#runs.length = 0;
  }
}
