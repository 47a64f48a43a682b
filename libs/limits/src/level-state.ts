import type { Level, LevelAmendment, Limits, QuotaCheckpoint, QuotaMeter, QuotaWindow } from '@sluice/contracts';
import { Bulkhead } from './bulkhead.ts';
import { QuotaCounter, windowSpan, type WindowSpan } from './quota-window.ts';
import { TokenBucket } from './token-bucket.ts';
import type { WindowLoan } from './window-loan.ts';

/** A quota window in force and its counter. */
export interface QuotaState {
  readonly level: Level;
  readonly id: string;
  readonly meter: QuotaMeter;
  /** Replaced when the span changes; what was used and what is reserved go along. */
  counter: QuotaCounter;
  definition: QuotaWindow;
  /** Span and zone that the counter was made for. */
  cut: string;
  /** Above this nothing is admitted; `Infinity` for soft windows. */
  threshold: number;
  /** Use that a checkpoint brought, as it was found there. */
  readonly restored: readonly (readonly [startMs: number, used: number])[];
  /** What a gateway that shares its limits with others holds of the window. */
  loan: WindowLoan | undefined;
  /**
   * What was used before the window was made, came in force again or was cut otherwise is in it, as a checkpoint, the
   * ledger or the shared store said.
   */
  founded: boolean;
}

const NONE: readonly never[] = [];

/** What a checkpoint holds for a window of this meter which no scope has named yet. */
export type PendingWindow = (
  level: Level,
  id: string,
  quota: string,
  meter: QuotaMeter,
) => QuotaCheckpoint['windows'][number] | undefined;

/**
 * All counters of one level's identity (one tenant, one workspace, one key). They outlive any version of its
 * limits.
 */
export class LevelState {
  readonly level: Level;
  readonly id: string;
  readonly tenantId: string;
  requests: TokenBucket | undefined;
  tokens: TokenBucket | undefined;
  tokensPerMinute = 0;
  readonly bulkhead = new Bulkhead();
  windows: readonly QuotaState[] = NONE;
  /** Windows that are in force or were; a level has few. */
  #known: readonly QuotaState[] = NONE;
  /** What is in force: the limits and zone of the scope that was seen last. */
  #limits: Limits | undefined;
  timeZone = '';
  /** Counts the changes of what is in force. */
  version = 0;
  /** The past of some window in force is not known. */
  unfounded = false;
  /** A scope named it since the last look for idle levels, and when that look was. */
  named = true;
  namedAtMs = -Infinity;

  constructor(level: Level, id: string, tenantId: string) {
    this.level = level;
    this.id = id;
    this.tenantId = tenantId;
  }

  /** Puts limits in force at once; the counters go on. True when they replaced other ones. */
  apply(limits: Limits, timeZone: string, nowMs: number, monotonicMs: number, pending: PendingWindow): boolean {
    const previous = this.#limits;
    const sameZone = timeZone === this.timeZone;
    this.#limits = limits;
    this.timeZone = timeZone;
    if (sameZone && (previous === limits || JSON.stringify(previous) === JSON.stringify(limits))) return false;
    this.version++;
    this.unfounded = false;
    const { requests, tokens, concurrency } = limits;
    this.requests = requests && bucketOf(this.requests, requests.burst, requestsPerMs(requests), monotonicMs);
    this.tokens =
      tokens && bucketOf(this.tokens, tokens.burst ?? tokens.perMinute, tokens.perMinute / 60_000, monotonicMs);
    this.tokensPerMinute = tokens?.perMinute ?? 0;
    this.bulkhead.maxInFlight = concurrency?.inFlight ?? Infinity;
    this.bulkhead.maxQueued = concurrency?.queued ?? Infinity;
    if (limits.quotas.length === 0) this.windows = NONE;
    else this.windows = limits.quotas.map((definition) => this.#windowOf(definition, timeZone, nowMs, pending));
    this.unfounded = this.windows.some(({ founded }) => !founded);
    if (this.#known.length === 0) this.#known = this.windows;
    else if (this.windows.some((window) => !this.#known.includes(window)))
      this.#known = [...new Set([...this.#known, ...this.windows])];
    return previous !== undefined;
  }

  /** Adds what an audit found to the windows that are still cut as they were then. */
  amend({ windows }: Pick<LevelAmendment, 'windows'>, nowMs: number): void {
    for (const { quota, meter, cut, deltas, founded } of windows) {
      const window = this.windows.find((one) => one.definition.id === quota && one.meter === meter && one.cut === cut);
      if (window === undefined) continue;
      if (deltas.length > 0) window.counter.amend(deltas, nowMs);
      window.founded ||= founded;
    }
    this.unfounded = this.windows.some(({ founded }) => !founded);
  }

  /** Nothing is in flight, and no window has use that counts: forgetting it loses nothing. */
  isEmpty(nowMs: number): boolean {
    if (this.bulkhead.inFlight > 0 || this.bulkhead.queued > 0) return false;
    return this.#known.every(({ counter }) => {
      counter.roll(nowMs);
      return counter.used === 0 && counter.reserved === 0;
    });
  }

  #windowOf(definition: QuotaWindow, timeZone: string, nowMs: number, pending: PendingWindow): QuotaState {
    const { cut, span } = cutOf(definition, timeZone);
    let state = this.#known.find(({ definition: { id }, meter }) => id === definition.id && meter === definition.meter);
    if (state === undefined) {
      const found = pending(this.level, this.id, definition.id, definition.meter);
      const restored = found?.steps ?? NONE;
      const counter = counterOf(span, restored, nowMs);
      state = {
        level: this.level,
        id: this.id,
        meter: definition.meter,
        counter,
        definition,
        cut,
        threshold: 0,
        restored,
        loan: undefined,
        founded: found !== undefined && (found.cut === undefined || found.cut === cut),
      };
    } else if (state.cut !== cut) {
      const { reserved } = state.counter;
      state.counter = counterOf(span, state.counter.steps(nowMs), nowMs);
      state.counter.reserved = reserved;
      state.cut = cut;
      state.founded = false;
    } else if (!this.windows.includes(state)) {
      // It counted nothing while it was not in force.
      state.founded = false;
    }
    state.definition = definition;
    state.threshold = thresholdOf(definition);
    return state;
  }
}

/** Plans are few and workspaces many: windows that are cut alike share what cuts them. */
const cuts = new Map<string, { readonly cut: string; readonly span: WindowSpan }>();

function cutOf(definition: QuotaWindow, timeZone: string): { readonly cut: string; readonly span: WindowSpan } {
  const cut = `${JSON.stringify(definition.span)} ${timeZone}`;
  let shared = cuts.get(cut);
  if (shared === undefined) cuts.set(cut, (shared = { cut, span: windowSpan(definition.span, timeZone) }));
  return shared;
}

function counterOf(span: WindowSpan, steps: readonly (readonly [number, number])[], nowMs: number): QuotaCounter {
  const counter = new QuotaCounter(span);
  if (steps.length > 0) counter.load(steps, nowMs);
  return counter;
}

function bucketOf(
  current: TokenBucket | undefined,
  capacity: number,
  ratePerMs: number,
  monotonicMs: number,
): TokenBucket {
  if (current === undefined) return new TokenBucket(capacity, ratePerMs, monotonicMs);
  if (current.capacity !== capacity || current.ratePerMs !== ratePerMs)
    current.reconfigure(capacity, ratePerMs, monotonicMs);
  return current;
}

function requestsPerMs(rate: NonNullable<Limits['requests']>): number {
  return rate.perSecond === undefined ? (rate.perMinute ?? 0) / 60_000 : rate.perSecond / 1000;
}

function thresholdOf(definition: QuotaWindow): number {
  if (definition.mode === 'soft') return Infinity;
  return Math.floor((definition.limit * (definition.refuseAtPercent ?? 100)) / 100);
}
