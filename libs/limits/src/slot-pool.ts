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
  /** The model that is asked for; what a gate blocks for one model does not block another. */
  readonly model?: string;
  /** The tenant's largest share of the slots, percent; 50 unless told. Rounded down, but at least one slot. */
  readonly maxSharePercent?: number;
  /** Longest wait, milliseconds; 0 does not wait. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The same as `signal` for those who have something lighter: calls back once, at once when already given up. */
  readonly cancel?: { onCancel(listener: () => void): () => void } | undefined;
}

/** What one request took of a gate. */
export interface GateUse {
  /** It was not sent: nothing was used. */
  giveBack(): void;
  /** What it really used, tokens. */
  trueUp(tokens: number): void;
}

/** What keeps a request from being sent now although a slot is free. */
export interface GateBlock {
  /** Until it may be sent, milliseconds; more than 0. */
  readonly waitMs: number;
  /** Nobody may be sent before it; otherwise nobody who asks for the same model. */
  readonly all: boolean;
}

/**
 * A rate that all who use a pool share. Whoever it holds back waits in the fair queue, so that the rate is shared by
 * weight, what some leave unused goes to those who wait, and nobody starves: a smaller request does not overtake.
 */
export interface SlotGate {
  blocks(request: SlotRequest): GateBlock | undefined;
  /** The request is given a slot. @returns undefined where nothing is counted. */
  take(request: SlotRequest): GateUse | undefined;
}

/** A slot that is held until it is released. */
export interface SlotLease {
  /** How long it was waited for, milliseconds. */
  readonly waitMs: number;
  /** What it took of the pool's gate. */
  readonly gateUse: GateUse | undefined;
  /** Gives the slot back; false (and nothing happens) when that was done already. */
  release(): boolean;
}

export interface SlotPoolStats {
  readonly inUse: number;
  readonly queuedByPriority: Partial<Record<Priority, number>>;
  /** How long the one at the head of the longest wait has waited, milliseconds. */
  readonly oldestWaitMs: number;
  /** Slots held by requests that may use the reserved ones. */
  readonly reservedInUse: number;
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
  /** So many slots are always left for requests of at least this priority; those that they hold count as left. */
  readonly reserved?: Credential['reserved'];
}

export interface SlotPoolOptions extends SlotPoolSize {
  readonly clock: Clock;
  readonly timers?: Timers;
  readonly gate?: SlotGate;
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
  gate,
}: SlotPoolOptions): SlotPool {
  let slots = firstSlots;
  let reserved = firstReserved;
  const queue = createFairQueue<Waiter>();
  const held = new Map<string, number>();
  const queued: Record<Priority, number> = { critical: 0, high: 0, standard: 0, low: 0 };
  let inUse = 0;
  const heldBy: Record<Priority, number> = { critical: 0, high: 0, standard: 0, low: 0 };
  let restUntilMs = -Infinity;
  let wakeTimer: unknown;
  /** Models whose waiting calls the gate holds back, all of them where it is closed. */
  const heldModels = new Set<string | undefined>();
  let gateClosed = false;
  /** When the gate lets somebody on who waits now; its timer dispatches then. */
  let gateOpensAtMs = Infinity;
  let gateTimer: unknown;

  const isAtLeast = (priority: Priority, least: Priority): boolean =>
    PRIORITY_WEIGHT[priority] >= PRIORITY_WEIGHT[least];

  const reservedInUse = (): number =>
    reserved === undefined
      ? 0
      : PRIORITIES.reduce(
          (sum, priority) =>
            isAtLeast(priority, (reserved as NonNullable<typeof reserved>).priority) ? sum + heldBy[priority] : sum,
          0,
        );

  const mayHave = ({ tenantId, priority, maxSharePercent = DEFAULT_SHARE_PERCENT }: SlotRequest): boolean => {
    const usable =
      reserved === undefined || isAtLeast(priority, reserved.priority)
        ? slots
        : slots - Math.max(0, reserved.slots - reservedInUse());
    if (inUse >= usable) return false;
    return (held.get(tenantId) ?? 0) < Math.max(1, Math.floor((slots * maxSharePercent) / 100));
  };

  const grant = (request: SlotRequest, waitMs: number): SlotLease => {
    const { tenantId, priority } = request;
    inUse++;
    heldBy[priority]++;
    held.set(tenantId, (held.get(tenantId) ?? 0) + 1);
    let released = false;
    return {
      waitMs,
      gateUse: gate?.take(request),
      release() {
        if (released) return false;
        released = true;
        inUse--;
        heldBy[priority]--;
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
      heldModels.clear();
      gateClosed = false;
      const entry = queue.pop(({ value }) => mayHave(value.request) && mayPass(value.request));
      if (entry === undefined) return;
      const { request, sinceMs } = entry.value;
      entry.value.finish(grant(request, clock.monotonic() - sinceMs));
    }
  };

  /** Asks the gate in the fair order: whom it holds back holds back those who come after it. */
  const mayPass = (request: SlotRequest): boolean => {
    if (gate === undefined) return true;
    if (gateClosed || heldModels.has(request.model)) return false;
    const block = gate.blocks(request);
    if (block === undefined) return true;
    heldModels.add(request.model);
    gateClosed = block.all;
    dispatchIn(block.waitMs);
    return false;
  };

  /** A timer may fire a little before its time: the gate is asked again then. */
  const dispatchIn = (waitMs: number): void => {
    const atMs = clock.monotonic() + Math.max(1, waitMs);
    if (atMs >= gateOpensAtMs) return;
    timers.clearTimeout(gateTimer);
    gateOpensAtMs = atMs;
    gateTimer = timers.setTimeout(
      () => {
        gateOpensAtMs = Infinity;
        dispatch();
      },
      Math.max(1, waitMs),
    );
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
      // Somebody must ask the gate for it, should no slot be given back.
      if (gate !== undefined) dispatch();
    });

  /** Whether the gate lets a newcomer on, before whom nobody waits for it. */
  const passesNow = (request: SlotRequest): boolean => {
    if (gate === undefined) return true;
    if (queue.size > 0 && (gateClosed || heldModels.has(request.model))) return false;
    return gate.blocks(request) === undefined;
  };

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
    get reservedInUse() {
      return reservedInUse();
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
      // Whoever waits and might have this slot would have been given it: nobody is ahead. Those whom the gate holds
      // back are.
      if (mayHave(request) && !resting() && passesNow(request)) return grant(request, 0);
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
