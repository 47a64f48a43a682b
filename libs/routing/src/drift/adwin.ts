import { adwinCut } from './page-hinkley.ts';

/** Values in a row, their mean, and their squared distances from it in sum. */
interface Bucket {
  readonly n: number;
  readonly mean: number;
  readonly squares: number;
}

/** Everything that it has gathered; JSON-safe. */
export interface AdwinState {
  readonly count: number;
  /** Row r has buckets of 2^r values, the oldest first; a higher row is older. */
  readonly rows: readonly (readonly Bucket[])[];
}

export interface AdwinOptions {
  /** Probability of a false cut at each look, in (0, 1). */
  readonly delta: number;
  /** Values between two looks. */
  readonly every: number;
  /** Buckets of one size before two are merged. */
  readonly buckets: number;
}

export const ADWIN_OPTIONS: AdwinOptions = { delta: 0.002, every: 32, buckets: 5 };
/** Values on either side of a cut, at least. */
const LEAST = 5;
const EMPTY: Bucket = { n: 0, mean: 0, squares: 0 };

/**
 * A window over the newest values of a stream that is as long as their mean is the same, in O(log n) memory (ADWIN2,
 * Bifet and Gavaldà 2007). Values are expected in a range of about 1, either way of the mean.
 */
export class Adwin {
  readonly #options: AdwinOptions;
  #count = 0;
  #rows: Bucket[][] = [[]];

  constructor(options: AdwinOptions = ADWIN_OPTIONS) {
    this.#options = options;
  }

  static restore({ count, rows }: AdwinState, options: AdwinOptions = ADWIN_OPTIONS): Adwin {
    const adwin = new Adwin(options);
    adwin.#count = count;
    adwin.#rows = rows.map((row) => [...row]);
    return adwin;
  }

  get state(): AdwinState {
    return { count: this.#count, rows: this.#rows.map((row) => [...row]) };
  }

  /** Values in the window and their mean; 0 of none. */
  get window(): { readonly n: number; readonly mean: number } {
    const { n, mean } = this.#total();
    return { n, mean };
  }

  /**
   * @returns whether older values were dropped, because their mean is another than that of the newer ones.
   * @throws RangeError for what is no finite number.
   */
  add(x: number): boolean {
    if (!Number.isFinite(x)) throw new RangeError(`a value of the stream is ${x}`);
    this.#count += 1;
    (this.#rows[0] as Bucket[]).push({ n: 1, mean: x, squares: 0 });
    for (let r = 0; (this.#rows[r]?.length ?? 0) > this.#options.buckets; r += 1) {
      const [first, second] = (this.#rows[r] as Bucket[]).splice(0, 2);
      (this.#rows[r + 1] ??= []).push(merged(first as Bucket, second as Bucket));
    }
    if (this.#count % this.#options.every !== 0) return false;
    let cut = false;
    while (this.#differs()) {
      this.#rows.findLast((row) => row.length > 0)?.shift();
      cut = true;
    }
    return cut;
  }

  /** Whether at any place the values before and after it have means that differ more than chance explains. */
  #differs(): boolean {
    const total = this.#total();
    let older = EMPTY;
    for (let r = this.#rows.length - 1; r >= 0; r -= 1) {
      for (const bucket of this.#rows[r] as Bucket[]) {
        older = merged(older, bucket);
        const newer = total.n - older.n;
        if (newer < LEAST) return false;
        if (older.n < LEAST) continue;
        const mean = (total.n * total.mean - older.n * older.mean) / newer;
        if (
          Math.abs(older.mean - mean) >=
          adwinCut({ older: older.n, newer, variance: total.squares / total.n, delta: this.#options.delta })
        )
          return true;
      }
    }
    return false;
  }

  #total(): Bucket {
    return this.#rows.reduceRight((sum, row) => row.reduce(merged, sum), EMPTY);
  }
}

function merged(a: Bucket, b: Bucket): Bucket {
  const n = a.n + b.n;
  const apart = b.mean - a.mean;
  return n === 0
    ? EMPTY
    : { n, mean: a.mean + (apart * b.n) / n, squares: a.squares + b.squares + (apart * apart * a.n * b.n) / n };
}
