/**
 * A map that remembers at least the last `size` keys that were asked for or set, and at most twice as many. Keys are
 * kept in two generations; when the younger one is full, the older one is forgotten as a whole. So a look-up costs one
 * or two look-ups of a `Map`, and nothing is ever walked through.
 */
export class RecentMap<V> {
  readonly #size: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  /** @param size at least 1. */
  constructor(size: number) {
    this.#size = size;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (this.#young.size < this.#size) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  *entries(): IterableIterator<[string, V]> {
    yield* this.#young;
    yield* this.#old;
  }
}
