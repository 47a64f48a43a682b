import { PRIORITY_WEIGHT, type Priority } from '@sluice/contracts';
import { FlowHeap } from './flow-heap.ts';

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

/** What only a flow has that others stand below. */
interface Below<T> {
  readonly children: Map<string, Flow<T>>;
  /** The children that wait, and some that did lately. */
  readonly busy: FlowHeap<Flow<T>>;
  /** Children that had nobody waiting when they were last looked at. */
  readonly idle: Flow<T>[];
}

/** A flow: the root, a tenant, a workspace, or (as the leaf that holds entries) one priority of a workspace. */
interface Flow<T> {
  readonly parent: Flow<T> | undefined;
  readonly key: string;
  /** Undefined for leaves, and while nobody waits. */
  below: Below<T> | undefined;
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
  place: number;
  /** It stands in its parent's list of idle ones. */
  listed: boolean;
}

/**
 * Start-time fair queueing (Goyal, Vin, Cheng, 1996), hierarchical: tenants, then the tenant's workspaces, then the
 * priorities of a workspace; first come first served within one priority. An entry of cost c and weight w moves its
 * flow from start tag S to S + c/w, and the flow with the lowest start tag is next.
 *
 * Bound: while a flow waits, between two of its own turns (the first of cost c, weight w) each sibling is served at
 * most (c/w + its largest c/w) of normalised cost, and a flow that was idle waits for at most one turn of each
 * sibling. So no flow starves, whatever the others send. A flow that may not be served keeps its place but saves no
 * credit.
 *
 * A pop takes time logarithmic in the waiting tenants, once for itself and once for each tenant ahead that may not
 * be served.
 */
export function createFairQueue<T>(): FairQueue<T> {
  let arrivals = 0;
  const root = createFlow<T>(undefined, '');
  const leaves = new Map<QueueEntry<T>, Flow<T>>();

  const childOf = (parent: Flow<T>, key: string): Flow<T> => {
    const { children } = (parent.below ??= { children: new Map(), busy: new FlowHeap(), idle: [] });
    let child = children.get(key);
    if (child === undefined) children.set(key, (child = createFlow(parent, key)));
    return child;
  };

  const activate = (flow: Flow<T>): void => {
    if (flow.waiting++ > 0 || flow.parent === undefined) return;
    flow.start = Math.max(flow.parent.virtualTime, flow.finish);
    flow.arrival = ++arrivals;
    flow.parent.below?.busy.push(flow);
  };

  const settle = (flow: Flow<T>): void => {
    flow.waiting--;
    if (flow.waiting > 0) return;
    // With nobody waiting, tags compare nothing any more; history would only hold memory.
    flow.below = undefined;
    flow.entries = NONE;
    flow.first = 0;
    flow.virtualTime = 0;
    if (flow.parent !== undefined && !flow.listed) flow.parent.below?.idle.push(flow);
    flow.listed = true;
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
    for (let flow = leaf; flow.parent !== undefined; flow = flow.parent)
      if (flow.waiting > 0) flow.parent.below?.busy.push(flow);
  };

  return {
    get size() {
      return root.waiting;
    },
    push(entry) {
      const leaf = childOf(childOf(childOf(root, entry.tenantId), entry.workspaceId), entry.priority);
      if (leaf.entries.length === 0) leaf.entries = [entry];
      else leaf.entries.push(entry);
      leaves.set(entry, leaf);
      for (let flow: Flow<T> | undefined = leaf; flow !== undefined; flow = flow.parent) activate(flow);
      return entry;
    },
    pop(mayServe) {
      let flow = root;
      while (flow.below !== undefined) {
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

/** Never changed. */
const NONE: never[] = [];

type Leaves<T> = ReadonlyMap<QueueEntry<T>, Flow<T>>;

function createFlow<T>(parent: Flow<T> | undefined, key: string): Flow<T> {
  return {
    parent,
    key,
    below: undefined,
    place: -1,
    listed: false,
    entries: NONE,
    first: 0,
    waiting: 0,
    virtualTime: 0,
    start: 0,
    finish: 0,
    arrival: 0,
  };
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

type MayServe<T> = ((entry: QueueEntry<T>) => boolean) | undefined;

function servable<T>(flow: Flow<T>, leaves: Leaves<T>, mayServe: MayServe<T>): boolean {
  if (flow.waiting === 0) return false;
  if (mayServe === undefined) return true;
  if (flow.below === undefined) {
    const entry = head(flow, leaves);
    return entry !== undefined && mayServe(entry);
  }
  for (const child of flow.below.children.values()) if (servable(child, leaves, mayServe)) return true;
  return false;
}

/** Children that are looked at in one turn, to forget those whose history means nothing any more. */
const LOOKED_AT = 2;

/**
 * The child that is next and may be served, taken out of the heap; those before it that may not be served stay
 * behind it.
 */
function nextChild<T>(flow: Flow<T>, leaves: Leaves<T>, mayServe: MayServe<T>): Flow<T> | undefined {
  const { below } = flow;
  if (below === undefined) return undefined;
  forgetIdle(flow.virtualTime, below);
  let passedOver: Flow<T>[] | undefined;
  let best = below.busy.pop();
  for (; best !== undefined; best = below.busy.pop()) {
    if (best.waiting === 0) continue;
    if (servable(best, leaves, mayServe)) break;
    (passedOver ??= []).push(best);
  }
  for (const child of passedOver ?? []) {
    // Who could not be served saves no credit: it would be paid by the neighbours in one go.
    if (best !== undefined) child.start = Math.max(child.start, best.start);
    below.busy.push(child);
  }
  return best;
}

function forgetIdle<T>(virtualTime: number, { children, idle }: Below<T>): void {
  for (let looked = 0; looked < LOOKED_AT && looked < idle.length; looked++) {
    const child = idle.pop() as Flow<T>;
    child.listed = false;
    if (child.waiting > 0 || children.get(child.key) !== child) continue;
    if (child.finish <= virtualTime) children.delete(child.key);
    else {
      idle.unshift(child);
      child.listed = true;
    }
  }
}
