import { DEFAULT_FEATURES, DEFAULT_SETTINGS } from '@sluice/routing';
import { errorWords, type Clock } from '@sluice/contracts';
import { createRouterState, type RouterState } from '../state/router-state.ts';
import type { JournalBody, JournalEntry } from '../state/journal.ts';
import type { Changes, LoadedState, RouterStore } from '../store/router-store.ts';

/** Entries after which a checkpoint is written, so that a start has little to repeat. */
const CHECKPOINT_EVERY = 1_000;
const RETRY_MS = 500;

/** The one writer of the router's state: what changes it is durable before it is seen. */
export interface RouterKeeper {
  /** Undefined until it was loaded; nothing can be decided before. */
  readonly state: RouterState | undefined;
  /**
   * Commits entries, with what belongs to them, and then applies them. One after the other, in the order of the
   * calls.
   */
  record(
    work: (
      state: RouterState,
    ) =>
      | Promise<{ readonly bodies: readonly JournalBody[]; readonly with?: Changes | undefined }>
      | { readonly bodies: readonly JournalBody[]; readonly with?: Changes | undefined },
  ): Promise<void>;
  /** Resolves when the state was loaded, with what else was. */
  readonly loaded: Promise<LoadedState>;
  close(): Promise<void>;
}

export function createRouterKeeper(deps: {
  readonly store: RouterStore;
  readonly prepare: () => Promise<void>;
  readonly clock: Clock;
  readonly requestsForMs: number;
  readonly logger: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}): RouterKeeper {
  const { store, clock, logger } = deps;
  let state: RouterState | undefined;
  let checkpointAt = 0;
  let unsure = false;
  let closed = false;
  let tail: Promise<unknown> = Promise.resolve();

  function fold(target: RouterState, entries: readonly JournalEntry[]): void {
    for (const entry of entries) if (entry.seq > target.seq) target.apply(entry);
  }

  async function commit(bodies: readonly JournalBody[], changes: Changes = {}): Promise<void> {
    const now = state as RouterState;
    const atMs = Math.floor(clock.now());
    const entries = bodies.map((body, i): JournalEntry => ({ seq: now.seq + 1 + i, atMs, body }));
    try {
      await store.commit({ ...changes, entries });
    } catch (error) {
      // It may have happened all the same: what the store holds is asked before the next.
      unsure = true;
      throw error;
    }
    fold(now, entries);
    if (now.seq - checkpointAt < CHECKPOINT_EVERY) return;
    checkpointAt = now.seq;
    await store.commit({ checkpoint: now.saved }).catch(() => undefined);
  }

  async function becomeSure(): Promise<void> {
    if (!unsure) return;
    fold(state as RouterState, (await store.load(clock.now())).entries);
    unsure = false;
  }

  async function load(): Promise<LoadedState> {
    for (let tries = 0; ; tries += 1) {
      if (closed) throw new Error('closed before the state was loaded');
      try {
        await deps.prepare();
        const loaded = await store.load(clock.now() - deps.requestsForMs);
        const fresh = createRouterState(loaded.checkpoint);
        fold(fresh, loaded.entries);
        state = fresh;
        checkpointAt = loaded.checkpoint?.seq ?? 0;
        if (fresh.serving === '')
          await commit([
            {
              kind: 'policy_created',
              policy: {
                version: 'v1',
                note: 'The first policy: it has learned nothing and stands on the best tier.',
                createdBy: 'system',
                settings: DEFAULT_SETTINGS,
                features: DEFAULT_FEATURES,
              },
            },
          ]);
        logger.info({ seq: fresh.seq, serving: fresh.serving, store: store.kind }, 'the state of the router is loaded');
        return loaded;
      } catch (error) {
        state = undefined;
        if (tries === 0) logger.warn({ reason: errorWords(error) }, 'the state of the router cannot be loaded yet');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  const loaded = load();
  loaded.catch(() => undefined);
  return {
    get state() {
      return state;
    },
    loaded,
    record: (work) => {
      const mine = tail.then(async () => {
        if (state === undefined) throw new Error('the state of the router is not loaded yet');
        await becomeSure();
        const { bodies, with: changes } = await work(state);
        if (bodies.length > 0 || changes !== undefined) await commit(bodies, changes);
      });
      tail = mine.catch(() => undefined);
      return mine;
    },
    close: async () => {
      closed = true;
      await tail;
    },
  };
}
