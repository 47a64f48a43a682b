import { PRIORITIES, PRIORITY_WEIGHT, type Clock, type Credential, type Priority } from '@sluice/contracts';
import { createFairQueue, type QueueEntry } from './fair-queue.ts';

/** Timers as an injected thing, so that tests set the time. */
export interface Timers {
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
}

export interface SlotRequest {
  readonly tenantId: string;
  readonly workspaceId: string;
  readonly priority: Priority;
  /** Expected tokens: what the call costs in the fair queue. */
  readonly costTokens: number;
  /** The tenant's largest share of the slots, percent; 50 unless told. Rounded down, but at least one slot. */
  readonly maxSharePercent?: number;
  /** Longest wait, milliseconds; 0 does not wait. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The same as `signal` for those who have something lighter: calls back once, at once when already given up. */
  readonly cancel?: { onCancel(listener: () => void): () => void } | undefined;
}

/** A slot that is held until it is released. */
export interface SlotLease {
  /** How long it was waited for, milliseconds. */
  readonly waitMs: number;
  /** Gives the slot back; false (and nothing happens) when that was done already. */
  release(): boolean;
}

export interface SlotPoolStats {
  readonly inUse: number;
  readonly queuedByPriority: Partial<Record<Priority, number>>;
  /** How long the one at the head of the longest wait has waited, milliseconds. */
  readonly oldestWaitMs: number;
}

export interface SlotPool {
  readonly slots: number;
  /**
   * Takes a slot at once when one is free that the caller may have, else waits its fair turn. A lease that comes later
   * than the caller's interest must be released all the same.
   */
  acquire(request: SlotRequest): SlotLease | Promise<SlotLease | 'timeout' | 'aborted'>;
  /**
   * Gives no slots out before this time of `clock.monotonic()`; those held stay held. An earlier time changes
   * nothing.
   */
  cooldown(untilMs: number): void;
  /**
   * Other sizes from now on. Slots held beyond them stay held until their release; whoever waits gets what is new
   * at once.
   */
  resize(size: SlotPoolSize): void;
  /** True while the pool rests. */
  readonly coolingDown: boolean;
  /** Each figure is computed when it is read. */
  readonly stats: SlotPoolStats;
}

export interface SlotPoolSize {
  readonly slots: number;
  /** Slots that only requests of at least this priority may use. */
  readonly reserved?: Credential['reserved'];
}

export interface SlotPoolOptions extends SlotPoolSize {
  readonly clock: Clock;
  readonly timers?: Timers;
}

interface Waiter {
  readonly request: SlotRequest;
  readonly sinceMs: number;
  finish(result: SlotLease | 'timeout' | 'aborted'): void;
}

const processTimers: Timers = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

const DEFAULT_SHARE_PERCENT = 50;

/**
 * The capacity of one credential, shared by the fair queue. A tenant never holds more than its share, also while slots
 * are free: calls that hang cannot fill the pool before the others come.
 */
export function createSlotPool({
  slots: firstSlots,
  clock,
  reserved: firstReserved,
  timers = processTimers,
}: SlotPoolOptions): SlotPool {
  let slots = firstSlots;
  let reserved = firstReserved;
  const queue = createFairQueue<Waiter>();
  const held = new Map<string, number>();
  const queued: Record<Priority, number> = { critical: 0, high: 0, standard: 0, low: 0 };
  let inUse = 0;
  let restUntilMs = -Infinity;
  let wakeTimer: unknown;

  const mayHave = ({ tenantId, priority, maxSharePercent = DEFAULT_SHARE_PERCENT }: SlotRequest): boolean => {
    const usable =
      reserved === undefined || PRIORITY_WEIGHT[priority] >= PRIORITY_WEIGHT[reserved.priority]
        ? slots
        : slots - reserved.slots;
    if (inUse >= usable) return false;
    return (held.get(tenantId) ?? 0) < Math.max(1, Math.floor((slots * maxSharePercent) / 100));
  };

  const grant = ({ tenantId }: SlotRequest, waitMs: number): SlotLease => {
    inUse++;
    held.set(tenantId, (held.get(tenantId) ?? 0) + 1);
    let released = false;
    return {
      waitMs,
      release() {
        if (released) return false;
        released = true;
        inUse--;
        const left = (held.get(tenantId) ?? 1) - 1;
        if (left === 0) held.delete(tenantId);
        else held.set(tenantId, left);
        dispatch();
        return true;
      },
    };
  };

  /** Gives free slots out until nobody who waits may have one. */
  const dispatch = (): void => {
    while (queue.size > 0 && inUse < slots && !resting()) {
      const entry = queue.pop(({ value }) => mayHave(value.request));
      if (entry === undefined) return;
      const { request, sinceMs } = entry.value;
      entry.value.finish(grant(request, clock.monotonic() - sinceMs));
    }
  };

  const resting = (): boolean => clock.monotonic() < restUntilMs;

  /** Ends the rest; a timer may fire a little before its time. */
  const wake = (): void => {
    wakeTimer = resting() ? timers.setTimeout(wake, Math.max(1, restUntilMs - clock.monotonic())) : undefined;
    dispatch();
  };

  const wait = (request: SlotRequest): Promise<SlotLease | 'timeout' | 'aborted'> =>
    new Promise((resolve) => {
      let unsubscribe = (): void => undefined;
      const giveUp = (why: 'timeout' | 'aborted') => (): void => {
        if (!queue.remove(entry)) return;
        entry.value.finish(why);
        // Its place may have been the only one that kept a later one of the same workspace from its turn.
        dispatch();
      };
      const onAbort = giveUp('aborted');
      const entry: QueueEntry<Waiter> = {
        ...request,
        value: {
          request,
          sinceMs: clock.monotonic(),
          finish(result) {
            queued[request.priority]--;
            timers.clearTimeout(timer);
            request.signal?.removeEventListener('abort', onAbort);
            unsubscribe();
            resolve(result);
          },
        },
      };
      queue.push(entry);
      queued[request.priority]++;
      const timer = timers.setTimeout(giveUp('timeout'), request.timeoutMs);
      request.signal?.addEventListener('abort', onAbort, { once: true });
      if (request.cancel !== undefined) unsubscribe = request.cancel.onCancel(onAbort);
    });

  const oldestWaitMs = (): number => {
    const now = clock.monotonic();
    return queue.heads().reduce((oldest, { value }) => Math.max(oldest, now - value.sinceMs), 0);
  };

  const stats: SlotPoolStats = {
    get inUse() {
      return inUse;
    },
    get queuedByPriority() {
      return Object.fromEntries(
        PRIORITIES.filter((priority) => queued[priority] > 0).map((priority) => [priority, queued[priority]]),
      );
    },
    get oldestWaitMs() {
      return oldestWaitMs();
    },
  };

  return {
    get slots() {
      return slots;
    },
    resize(size) {
      slots = size.slots;
      reserved = size.reserved;
      dispatch();
    },
    acquire(request) {
      if (request.signal?.aborted) return Promise.resolve('aborted');
      // Whoever waits and might have this slot would have been given it: nobody is ahead.
      if (mayHave(request) && !resting()) return grant(request, 0);
      if (request.timeoutMs <= 0) return Promise.resolve('timeout');
      return wait(request);
    },
    cooldown(untilMs) {
      if (untilMs <= restUntilMs) return;
      restUntilMs = untilMs;
      timers.clearTimeout(wakeTimer);
      wakeTimer = timers.setTimeout(wake, untilMs - clock.monotonic());
    },
    get coolingDown() {
      return resting();
    },
    stats,
  };
}
