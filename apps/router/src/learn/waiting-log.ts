import { errorWords } from '@sluice/contracts';
import type { DecisionRow } from '../store/router-store.ts';

/** Decisions on their way to the store. */
export interface WaitingLog {
  /**
   * False at the bound of the tenant or of all: a decision must not be made then, because its probability would be
   * lost. A tenant may have half of the bound; one with little always finds room.
   */
  accepts(tenant: string): boolean;
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
/** Of the bound: a tenant with less finds room though others have filled it, up to twice the bound for all. */
const SMALL_SHARE = 1 / 64;

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
  const byTenant = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let failures = 0;
  let closed = false;

  async function storeAll(): Promise<void> {
    while (rows.size > 0) {
      const batch = [...rows.values()].slice(0, BATCH);
      await deps.store(batch);
      for (const row of batch) forget(row);
    }
    failures = 0;
  }

  function forget({ id, tenant }: DecisionRow): void {
    if (!rows.delete(id)) return;
    const left = (byTenant.get(tenant) ?? 1) - 1;
    if (left === 0) byTenant.delete(tenant);
    else byTenant.set(tenant, left);
  }

  function run(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    running ??= storeAll()
      .catch((error: unknown) => {
        if (failures === 0)
          deps.logger.warn({ waiting: rows.size, reason: errorWords(error) }, 'decisions cannot be stored and wait');
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
    accepts: (tenant) => {
      const own = byTenant.get(tenant) ?? 0;
      if (own >= Math.ceil(maxWaiting / 2)) return false;
      return rows.size < maxWaiting || (own < maxWaiting * SMALL_SHARE && rows.size < 2 * maxWaiting);
    },
    add: (row) => {
      if (!rows.has(row.id)) byTenant.set(row.tenant, (byTenant.get(row.tenant) ?? 0) + 1);
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
