import type { DecisionRow } from '../store/router-store.ts';

/** Decisions on their way to the store. */
export interface WaitingLog {
  /** False at the bound: a decision must not be made then, because its probability would be lost. */
  readonly accepting: boolean;
  add(row: DecisionRow): void;
  /** One that waits, so that it can be found before it is stored. */
  find(id: string): DecisionRow | undefined;
  readonly waiting: number;
  /** Resolves when everything that waits now is stored; rejects when a try fails. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const BATCH = 500;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;

/**
 * Stores decisions in batches a few milliseconds after they were made. While the store is away they wait, up to a
 * bound; none is ever dropped.
 */
export function createWaitingLog(deps: {
  readonly store: (rows: readonly DecisionRow[]) => Promise<void>;
  readonly logger: { warn(fields: object, message: string): void };
  readonly maxWaiting?: number;
  readonly delayMs?: number;
}): WaitingLog {
  const { maxWaiting = 20_000, delayMs = 10 } = deps;
  const rows = new Map<string, DecisionRow>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let failures = 0;
  let closed = false;

  async function storeAll(): Promise<void> {
    while (rows.size > 0) {
      const batch = [...rows.values()].slice(0, BATCH);
      await deps.store(batch);
      for (const { id } of batch) rows.delete(id);
    }
    failures = 0;
  }

  function run(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    running ??= storeAll()
      .catch((error: unknown) => {
        if (failures === 0)
          deps.logger.warn(
            { waiting: rows.size, reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown' },
            'decisions cannot be stored and wait',
          );
        failures += 1;
        throw error;
      })
      .finally(() => {
        running = undefined;
        if (rows.size > 0 && !closed)
          later(failures === 0 ? delayMs : Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)));
      });
    return running;
  }

  function later(ms: number): void {
    timer ??= setTimeout(() => void run().catch(() => undefined), ms).unref();
  }

  return {
    get accepting() {
      return rows.size < maxWaiting;
    },
    add: (row) => {
      rows.set(row.id, row);
      if (running === undefined) later(delayMs);
    },
    find: (id) => rows.get(id),
    get waiting() {
      return rows.size;
    },
    flush: () => (rows.size === 0 ? Promise.resolve() : run()),
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await (rows.size === 0 ? undefined : run());
    },
  };
}
