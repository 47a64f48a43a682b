import type { ExportDepth, ExportSpine } from './export-spine.ts';

interface MemoryQueue extends ExportDepth {
  readonly subscribed: boolean;
  /** A message that no count shows. */
  readonly hidden: boolean;
}

/** For tests: export queues in memory. */
export interface MemoryExportSpine extends ExportSpine {
  readonly queues: Map<string, MemoryQueue>;
  set(tenant: string, change: Partial<MemoryQueue>): void;
  /** While down everything throws. */
  setDown(down: boolean): void;
}

export function createMemoryExportSpine(): MemoryExportSpine {
  const queues = new Map<string, MemoryQueue>();
  let down = false;
  const up = (): void => {
    if (down) throw new Error('connection refused');
  };
  const of = (tenant: string): MemoryQueue => {
    up();
    const queue = queues.get(tenant);
    if (queue === undefined) throw new Error(`there is no export queue of ${tenant}`);
    return queue;
  };
  const fresh: MemoryQueue = { subscribed: true, waiting: 0, in_flight: 0, dlq_depth: 0, hidden: false };
  return {
    queues,
    set: (tenant, change) => void queues.set(tenant, { ...fresh, ...queues.get(tenant), ...change }),
    setDown: (value) => {
      down = value;
    },
    existing: async () => (up(), [...queues.keys()]),
    subscribed: async () => (up(), [...queues].filter(([, queue]) => queue.subscribed).map(([tenant]) => tenant)),
    provision: async (tenant) => (up(), void queues.set(tenant, { ...fresh, ...queues.get(tenant), subscribed: true })),
    unsubscribe: async (tenant) => void queues.set(tenant, { ...of(tenant), subscribed: false }),
    depth: async (tenant) => of(tenant),
    holdsMessage: async (tenant) => of(tenant).hidden,
    remove: async (tenant) => (of(tenant), void queues.delete(tenant)),
  };
}
