/** What a heap of flows orders: the lowest start tag first, then who became busy first. */
export interface HeapFlow {
  start: number;
  arrival: number;
  /** Its place in the heap; -1 while it is in none. */
  place: number;
}

function before(a: HeapFlow, b: HeapFlow): boolean {
  return a.start < b.start || (a.start === b.start && a.arrival < b.arrival);
}

/** A binary heap that knows where each of its flows stands, so that a flow whose tag has grown finds its new place. */
export class FlowHeap<F extends HeapFlow> {
  readonly #flows: F[] = [];

  get first(): F | undefined {
    return this.#flows[0];
  }

  push(flow: F): void {
    if (flow.place >= 0) {
      this.#down(flow.place);
      return;
    }
    let at = this.#flows.push(flow) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#flows[parent] as F;
      if (!before(flow, above)) break;
      this.#put(above, at);
      at = parent;
    }
    this.#put(flow, at);
  }

  pop(): F | undefined {
    const top = this.#flows[0];
    const last = this.#flows.pop();
    if (top === undefined || last === undefined) return undefined;
    top.place = -1;
    if (last !== top) {
      this.#put(last, 0);
      this.#down(0);
    }
    return top;
  }

  clear(): void {
    for (const flow of this.#flows) flow.place = -1;
    this.#flows.length = 0;
  }

  #put(flow: F, at: number): void {
    this.#flows[at] = flow;
    flow.place = at;
  }

  #down(from: number): void {
    const flow = this.#flows[from] as F;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      const right = this.#flows[child + 1];
      if (right !== undefined && before(right, this.#flows[child] as F)) child++;
      const below = this.#flows[child];
      if (below === undefined || !before(below, flow)) break;
      this.#put(below, at);
      at = child;
    }
    this.#put(flow, at);
  }
}
