import type { Level, Limits, QuotaMeter, QuotaWindow } from '@sluice/contracts';
import { Bulkhead } from './bulkhead.ts';
import { QuotaCounter, windowSpan } from './quota-window.ts';
import { TokenBucket } from './token-bucket.ts';

/** A quota window in force and its counter. */
export interface QuotaState {
  readonly level: Level;
  readonly id: string;
  readonly meter: QuotaMeter;
  readonly counter: QuotaCounter;
  definition: QuotaWindow;
  /** Above this nothing is admitted; `Infinity` for soft windows. */
  threshold: number;
  /** False once no longer part of the level's limits; its counter is kept in case it comes back. */
  active: boolean;
}

/** Steps that a checkpoint holds for a window which no scope has named yet. */
export type PendingSteps = (level: Level, id: string, quota: string) => readonly (readonly [number, number])[];

/** All counters of one level's identity (one tenant, one workspace, one key). They outlive any version of its limits. */
export class LevelState {
  readonly level: Level;
  readonly id: string;
  requests: TokenBucket | undefined;
  tokens: TokenBucket | undefined;
  tokensPerMinute = 0;
  readonly bulkhead = new Bulkhead();
  windows: readonly QuotaState[] = [];
  readonly #known = new Map<string, QuotaState>();
  /** What is in force: the limits and zone of the scope that was seen last. */
  #limits: Limits | undefined;
  #timeZone = '';

  constructor(level: Level, id: string) {
    this.level = level;
    this.id = id;
  }

  /** Puts limits in force at once; the counters go on. True when they replaced other ones. */
  apply(limits: Limits, timeZone: string, nowMs: number, monotonicMs: number, pending: PendingSteps): boolean {
    const previous = this.#limits;
    const sameZone = timeZone === this.#timeZone;
    this.#limits = limits;
    this.#timeZone = timeZone;
    if (sameZone && (previous === limits || JSON.stringify(previous) === JSON.stringify(limits))) return false;
    const { requests, tokens, concurrency } = limits;
    this.requests = requests && bucketOf(this.requests, requests.burst, requestsPerMs(requests), monotonicMs);
    this.tokens = tokens && bucketOf(this.tokens, tokens.burst ?? tokens.perMinute, tokens.perMinute / 60_000, monotonicMs);
    this.tokensPerMinute = tokens?.perMinute ?? 0;
    this.bulkhead.maxInFlight = concurrency?.inFlight ?? Infinity;
    this.bulkhead.maxQueued = concurrency?.queued ?? Infinity;
    const before = this.windows;
    for (const window of before) window.active = false;
    this.windows = limits.quotas.map((definition) => this.#windowOf(definition, timeZone, nowMs, before, pending));
    return previous !== undefined;
  }

  #windowOf(definition: QuotaWindow, timeZone: string, nowMs: number, before: readonly QuotaState[], pending: PendingSteps): QuotaState {
    const key = `${definition.id} ${definition.meter} ${JSON.stringify(definition.span)} ${timeZone}`;
    let state = this.#known.get(key);
    if (state === undefined) {
      const counter = new QuotaCounter(windowSpan(definition.span, timeZone));
      const earlier = before.find((window) => window.definition.id === definition.id && window.meter === definition.meter);
      const steps = earlier === undefined ? pending(this.level, this.id, definition.id) : earlier.counter.steps(nowMs);
      for (const [startMs, used] of steps) counter.addAt(used, startMs, nowMs);
      state = { level: this.level, id: this.id, meter: definition.meter, counter, definition, threshold: 0, active: true };
      this.#known.set(key, state);
    }
    state.definition = definition;
    state.threshold = thresholdOf(definition);
    state.active = true;
    return state;
  }
}

function bucketOf(current: TokenBucket | undefined, capacity: number, ratePerMs: number, monotonicMs: number): TokenBucket {
  if (current === undefined) return new TokenBucket(capacity, ratePerMs, monotonicMs);
  if (current.capacity !== capacity || current.ratePerMs !== ratePerMs) current.reconfigure(capacity, ratePerMs, monotonicMs);
  return current;
}

function requestsPerMs(rate: NonNullable<Limits['requests']>): number {
  return rate.perSecond === undefined ? (rate.perMinute ?? 0) / 60_000 : rate.perSecond / 1000;
}

function thresholdOf(definition: QuotaWindow): number {
  if (definition.mode === 'soft') return Infinity;
  return Math.floor((definition.limit * (definition.refuseAtPercent ?? 100)) / 100);
}
