/** What a heap of flows orders: the lowest start tag first, then who became busy first. */
export interface HeapFlow {
  start: number;
  arrival: number;
  /** Its place in the heap; -1 while it is in none. */
  place: number;
}

/** Children of a node: with four, a heap of 10,000 is seven levels deep, and the children's tags lie side by side. */
const WIDTH = 4;

/**
 * A heap that knows where each of its flows stands, so that a flow whose tag has grown finds its new place. The tags are
 * kept beside the flows, because reading them from thousands of flows is what takes the time. A flow's tag may change
 * only right before it is pushed.
 */
export class FlowHeap<F extends HeapFlow> {
  readonly #flows: F[] = [];
  readonly #starts: number[] = [];
  readonly #arrivals: number[] = [];

  get first(): F | undefined {
    return this.#flows[0];
  }

  push(flow: F): void {
    if (flow.place >= 0) {
      this.#down(flow, flow.place);
      return;
    }
    const { start, arrival } = flow;
    let at = this.#flows.length;
    while (at > 0) {
      const parent = (at - 1) >> 2;
      const above = this.#starts[parent] as number;
      if (above < start || (above === start && (this.#arrivals[parent] as number) < arrival)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(flow, at);
  }

  pop(): F | undefined {
    const top = this.#flows[0];
    const last = this.#flows.pop();
    this.#starts.pop();
    this.#arrivals.pop();
    if (top === undefined || last === undefined) return undefined;
    top.place = -1;
    if (last !== top) this.#down(last, 0);
    return top;
  }

  clear(): void {
    for (const flow of this.#flows) flow.place = -1;
    this.#flows.length = this.#starts.length = this.#arrivals.length = 0;
  }

  #put(flow: F, at: number): void {
    this.#flows[at] = flow;
    this.#starts[at] = flow.start;
    this.#arrivals[at] = flow.arrival;
    flow.place = at;
  }

  #move(from: number, to: number): void {
    const flow = this.#flows[from] as F;
    this.#flows[to] = flow;
    this.#starts[to] = this.#starts[from] as number;
    this.#arrivals[to] = this.#arrivals[from] as number;
    flow.place = to;
  }

  #down(flow: F, from: number): void {
    const { start, arrival } = flow;
    const starts = this.#starts;
    const arrivals = this.#arrivals;
    const count = starts.length;
    let at = from;
    for (;;) {
      const first = WIDTH * at + 1;
      const end = Math.min(first + WIDTH, count);
      let best = -1;
      let bestStart = start;
      let bestArrival = arrival;
      for (let child = first; child < end; child++) {
        const tag = starts[child] as number;
        if (tag < bestStart || (tag === bestStart && (arrivals[child] as number) < bestArrival)) {
          best = child;
          bestStart = tag;
          bestArrival = arrivals[child] as number;
        }
      }
      if (best < 0) break;
      this.#move(best, at);
      at = best;
    }
    this.#put(flow, at);
  }
}
