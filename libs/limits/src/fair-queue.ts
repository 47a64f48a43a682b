import { PRIORITY_WEIGHT, type Priority } from '@sluice/contracts';

/** One entry that waits; `value` is the caller's. */
export interface QueueEntry<T> {
  readonly tenantId: string;
  readonly workspaceId: string;
  readonly priority: Priority;
  /** What serving it costs, tokens; less than 1 counts as 1. */
  readonly costTokens: number;
  readonly value: T;
}

export interface FairQueue<T> {
  readonly size: number;
  push(entry: QueueEntry<T>): QueueEntry<T>;
  /** Takes the next entry, or the next whose turn it is among those that may be served now. */
  pop(mayServe?: (entry: QueueEntry<T>) => boolean): QueueEntry<T> | undefined;
  /** Takes an entry out wherever it stands, in constant time; false when it is not in the queue. */
  remove(entry: QueueEntry<T>): boolean;
  /** Entries that are first of their workspace and priority, in no order. */
  heads(): QueueEntry<T>[];
}

/** A flow: the root, a tenant, a workspace, or (as the leaf that holds entries) one priority of a workspace. */
interface Flow<T> {
  readonly parent: Flow<T> | undefined;
  readonly children: Map<string, Flow<T>>;
  entries: QueueEntry<T>[];
  /** Index of the first entry that may still wait. */
  first: number;
  /** Entries that wait in this flow and below. */
  waiting: number;
  /** Virtual time among the children: start tag of the one that was served last. */
  virtualTime: number;
  start: number;
  finish: number;
  /** Order of becoming busy; decides between equal tags. */
  arrival: number;
}

/**
 * Start-time fair queueing (Goyal, Vin, Cheng, 1996), hierarchical: tenants, then the tenant's workspaces, then the
 * priorities of a workspace; first come first served within one priority. An entry of cost c and weight w moves its flow
 * from start tag S to S + c/w, and the flow with the lowest start tag is next.
 *
 * Bound: while a flow waits, between two of its own turns (the first of cost c, weight w) each sibling is served at most
 * (c/w + its largest c/w) of normalised cost, and a flow that was idle waits for at most one turn of each sibling. So no
 * flow starves, whatever the others send. A flow that may not be served keeps its place but saves no credit.
 *
 * A pop looks at each waiting tenant once and at the workspaces of those that come into question.
 */
export function createFairQueue<T>(): FairQueue<T> {
  let arrivals = 0;
  const root = createFlow<T>(undefined);
  const leaves = new Map<QueueEntry<T>, Flow<T>>();

  const childOf = (parent: Flow<T>, key: string): Flow<T> => {
    let child = parent.children.get(key);
    if (child === undefined) parent.children.set(key, (child = createFlow(parent)));
    return child;
  };

  const activate = (flow: Flow<T>): void => {
    if (flow.waiting++ > 0 || flow.parent === undefined) return;
    flow.start = Math.max(flow.parent.virtualTime, flow.finish);
    flow.arrival = ++arrivals;
  };

  const settle = (flow: Flow<T>): void => {
    flow.waiting--;
    if (flow.waiting > 0) return;
    // With nobody waiting, tags compare nothing any more; history would only hold memory.
    flow.children.clear();
    flow.entries = [];
    flow.first = 0;
    flow.virtualTime = 0;
  };

  const detach = (entry: QueueEntry<T>, leaf: Flow<T>): void => {
    leaves.delete(entry);
    for (let flow: Flow<T> | undefined = leaf; flow !== undefined; flow = flow.parent) settle(flow);
    compact(leaf, leaves);
  };

  const serve = (entry: QueueEntry<T>, leaf: Flow<T>): void => {
    const charge = Math.max(1, entry.costTokens) / PRIORITY_WEIGHT[entry.priority];
    for (let flow = leaf; flow.parent !== undefined; flow = flow.parent) {
      flow.parent.virtualTime = Math.max(flow.parent.virtualTime, flow.start);
      flow.finish = flow.start + charge;
      flow.start = flow.finish;
    }
    detach(entry, leaf);
  };

  return {
    get size() {
      return root.waiting;
    },
    push(entry) {
      const leaf = childOf(childOf(childOf(root, entry.tenantId), entry.workspaceId), entry.priority);
      leaf.entries.push(entry);
      leaves.set(entry, leaf);
      for (let flow: Flow<T> | undefined = leaf; flow !== undefined; flow = flow.parent) activate(flow);
      return entry;
    },
    pop(mayServe = () => true) {
      let flow = root;
      while (flow.children.size > 0) {
        const next = nextChild(flow, leaves, mayServe);
        if (next === undefined) return undefined;
        flow = next;
      }
      const entry = head(flow, leaves);
      if (entry !== undefined) serve(entry, flow);
      return entry;
    },
    remove(entry) {
      const leaf = leaves.get(entry);
      if (leaf === undefined) return false;
      detach(entry, leaf);
      return true;
    },
    heads() {
      const found = new Set<QueueEntry<T>>();
      for (const leaf of new Set(leaves.values())) {
        const entry = head(leaf, leaves);
        if (entry !== undefined) found.add(entry);
      }
      return [...found];
    },
  };
}

type Leaves<T> = ReadonlyMap<QueueEntry<T>, Flow<T>>;

function createFlow<T>(parent: Flow<T> | undefined): Flow<T> {
  return { parent, children: new Map(), entries: [], first: 0, waiting: 0, virtualTime: 0, start: 0, finish: 0, arrival: 0 };
}

/** The first entry of a leaf that still waits; those that were taken out are passed over for good. */
function head<T>(leaf: Flow<T>, leaves: Leaves<T>): QueueEntry<T> | undefined {
  for (let entry = leaf.entries[leaf.first]; entry !== undefined; entry = leaf.entries[++leaf.first]) {
    if (leaves.has(entry)) return entry;
  }
  return undefined;
}

/** Entries taken out are dropped from the list once they are the larger part of it. */
function compact<T>(leaf: Flow<T>, leaves: Leaves<T>): void {
  if (leaf.entries.length <= 2 * leaf.waiting + 32) return;
  leaf.entries = leaf.entries.filter((entry) => leaves.has(entry));
  leaf.first = 0;
}

function servable<T>(flow: Flow<T>, leaves: Leaves<T>, mayServe: (entry: QueueEntry<T>) => boolean): boolean {
  if (flow.waiting === 0) return false;
  if (flow.children.size === 0) {
    const entry = head(flow, leaves);
    return entry !== undefined && mayServe(entry);
  }
  for (const child of flow.children.values()) if (servable(child, leaves, mayServe)) return true;
  return false;
}

function nextChild<T>(flow: Flow<T>, leaves: Leaves<T>, mayServe: (entry: QueueEntry<T>) => boolean): Flow<T> | undefined {
  let best: Flow<T> | undefined;
  let passedOver: Flow<T>[] | undefined;
  for (const [key, child] of flow.children) {
    if (child.waiting === 0) {
      if (child.finish <= flow.virtualTime) flow.children.delete(key);
      continue;
    }
    const ahead = best === undefined || child.start < best.start || (child.start === best.start && child.arrival < best.arrival);
    if (!ahead) continue;
    if (servable(child, leaves, mayServe)) best = child;
    else (passedOver ??= []).push(child);
  }
  if (best === undefined) return undefined;
  // Who could not be served saves no credit: it would be paid by the neighbours in one go.
  for (const child of passedOver ?? []) child.start = Math.max(child.start, best.start);
  return best;
}
