import type { EventOrigin } from './events.ts';
import type { Level, Limits, QuotaMeter, QuotaSpan } from './policy.ts';
import type { TokenUsage } from './usage.ts';

/** A result that a store in memory gives at once and a store behind a network gives later. */
export type MaybePromise<T> = T | Promise<T>;

/** One level's limits and the identity under which its counters are kept. */
export interface LimitLevel {
  readonly level: Level;
  /** Unique within the level: tenant id, workspace UUID, key id. */
  readonly id: string;
  readonly limits: Limits;
}

/**
 * Everything that limits the calls of one key. Built once per key and configuration version and never changed, so a
 * store may keep what it derives from it in a `WeakMap`. Counters belong to (level, id), not to this object: a new
 * version with other limits goes on with the same counters.
 */
export interface LimitScope {
  readonly tenantId: string;
  /** The tenant's zone, for calendar windows without one of their own. */
  readonly timeZone: string;
  /** Tenant, workspace, key, in this order; levels without limits may be left out. */
  readonly levels: readonly LimitLevel[];
}

/** What a call is expected to use. */
export interface Reservation {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** At the dearest candidate's price. */
  readonly costNanoUsd: number;
  /**
   * Least that a call which was sent counts against rates of tokens, whatever it used: bytes are never free. 0 unless
   * given; quotas and money go by what was used.
   */
  readonly leastTokens?: number;
}

export interface AdmitRequest {
  /** Our request id; a second admit with the same id is a fault of the caller's. */
  readonly leaseId: string;
  readonly scope: LimitScope;
  readonly reservation: Reservation;
}

/** State of one bucket as the rate headers show it. */
export interface BucketView {
  /** Bucket size for requests; tokens per minute for tokens. */
  readonly limit: number;
  /** Whole units left, never below 0. */
  readonly remaining: number;
  /** Until the bucket is full again, milliseconds. */
  readonly resetMs: number;
}

export interface QuotaView {
  readonly level: Level;
  readonly id: string;
  /** The quota window's id in the policy, unique within its level. */
  readonly window: string;
  readonly meter: QuotaMeter;
  readonly limit: number;
  /** Used and reserved. */
  readonly used: number;
  readonly mode: 'hard' | 'soft';
  /** When the window frees something again, epoch milliseconds. */
  readonly resetAtMs: number;
  /** Shares of the limit at which somebody is told, percent. */
  readonly alertAtPercent: readonly number[];
}

/** The tightest bucket of each kind over all levels, and all quota windows. */
export interface LimitsView {
  readonly requests: BucketView | undefined;
  readonly tokens: BucketView | undefined;
  readonly quotas: readonly QuotaView[];
  /** Requests in flight and queued at the workspace level. */
  readonly inFlight: number;
  readonly queued: number;
}

/** Why a call was not admitted: a value, not an error. */
export interface LimitRefusal {
  readonly kind: 'quota' | 'shed' | 'throttled';
  readonly level: Level;
  /** `requests`, `tokens`, `in_flight`, `queued`, or the quota window's id. */
  readonly limit: string;
  readonly unit: 'requests' | 'tokens' | 'nanodollars';
  readonly limitValue: number;
  readonly used: number;
  /**
   * Exact for rates: who waits that long is admitted unless others took it. For quotas: until the window frees
   * enough. For shed: an estimate, 1 to 30 s. Milliseconds; `Infinity` when waiting never helps (a request larger
   * than the bucket).
   */
  readonly retryAfterMs: number;
}

/** Held from admission to settlement; settled exactly once. */
export interface AdmissionLease {
  readonly id: string;
  readonly scope: LimitScope;
  readonly reservation: Reservation;
  /** Epoch milliseconds. */
  readonly admittedAtMs: number;
}

export type AdmitResult =
  | { readonly admitted: true; readonly lease: AdmissionLease; readonly view: LimitsView }
  | { readonly admitted: false; readonly refusal: LimitRefusal; readonly view: LimitsView };

/**
 * How a lease ends.
 * - `unused`: refused before the first upstream byte; everything goes back, the rate tokens too.
 * - `used`: the slot goes back; quotas and the token bucket are trued up from the reservation to these figures.
 *
 * `origin` is the place of the call's record in the outbox, where it has one: a store that several gateways share
 * remembers by it what it has counted, so that a replay after a kill counts nothing twice.
 */
export type Settlement =
  | { readonly kind: 'unused'; readonly origin?: EventOrigin | undefined }
  | {
      readonly kind: 'used';
      readonly usage: TokenUsage;
      readonly costNanoUsd: number;
      readonly origin?: EventOrigin | undefined;
      /**
       * `occurred_at` of the call's record, epoch milliseconds; now unless told. A call whose record and settlement
       * stand on the two sides of a period's end counts in the period of its record, as in the ledger.
       */
      readonly atMs?: number | undefined;
    };

/** Quota use outside of a lease: what a replay of the outbox or of the ledger puts back after a restart. */
export interface ReplayedUse {
  readonly scope: LimitScope;
  readonly atMs: number;
  readonly usage: TokenUsage;
  readonly costNanoUsd: number;
  /** Place of the record in the outbox. */
  readonly origin?: Pick<EventOrigin, 'epoch' | 'sequence'>;
  /**
   * - `new` (unless told): nobody has counted it yet.
   * - `kept`: an earlier process of this gateway may have reported it; the restored checkpoint does not hold it.
   * - `saved`: the same, but the restored checkpoint holds it.
   *
   * The last two are only for a store that several gateways share, which finds out by `origin` whether it was reported.
   */
  readonly counted?: 'new' | 'kept' | 'saved';
}

/** The identity of one level, with the tenant under whose name a shared store keeps it. */
export interface LevelRef {
  readonly tenantId: string;
  readonly level: Level;
  readonly id: string;
}

/** The calls of one gateway that are in a level's counters: these runs of `epoch`, and all of earlier epochs. */
export interface CountedCalls {
  readonly gatewayId: string;
  readonly epoch: number;
  /** Sequences, both ends included, in rising order. */
  readonly runs: readonly (readonly [from: number, to: number])[];
}

/** What one window holds at the moment of an audit. */
export interface AuditedWindow {
  readonly quota: string;
  readonly meter: QuotaMeter;
  readonly span: QuotaSpan;
  /** Of the tenant, for calendar windows without one of their own. */
  readonly timeZone: string;
  /** How the window cuts time; an amendment for another cut is not made. */
  readonly cut: string;
  /** Start of each step (epoch ms) and the use in it; also steps that do not count now. */
  readonly steps: readonly (readonly [startMs: number, used: number])[];
}

/** The windows of one level at one moment, and which calls they hold then. */
export interface AuditedLevel extends LevelRef {
  readonly windows: readonly AuditedWindow[];
  /** Absent where all counters live in this process: its keeper knows what was counted. */
  readonly counted?: readonly CountedCalls[];
  /** How often a shared level was amended before. */
  readonly amended: number;
}

/** What has to be added to a level's windows so that they hold what the ledger does. */
export interface LevelAmendment extends LevelRef {
  readonly amended: number;
  readonly windows: readonly {
    readonly quota: string;
    readonly meter: QuotaMeter;
    readonly cut: string;
    /** Start of a step and units, which may be negative. */
    readonly deltas: readonly (readonly [startMs: number, units: number])[];
    /** The window holds now what the ledger does: its past is known. */
    readonly founded: boolean;
  }[];
}

/**
 * - `connected`: decisions are the authority's.
 * - `degraded`: the authority cannot be reached (or is not reconciled yet); each gateway goes on with its local
 * share, the
 *   limit divided by the number of gateways last known. `sinceMs` is epoch milliseconds.
 */
export type LimitStoreStatus =
  { readonly state: 'connected' } | { readonly state: 'degraded'; readonly sinceMs: number };

/**
 * The state behind limits. Two implementations (`memory`, `valkey`), one conformance suite.
 *
 * `admit` is atomic: evaluated in the order quota, bulkhead, rate over all levels, and committed only when all
 * pass. A store that fails throws; it never answers "admitted" because it could not look. The valkey store without
 * its authority does not fail: it decides by its local share and says so in `status`.
 */
export interface LimitStore {
  readonly kind: 'memory' | 'valkey';
  /** Whether limits are exact now; the memory store is always connected. */
  readonly status: LimitStoreStatus;
  admit(request: AdmitRequest): MaybePromise<AdmitResult>;
  /** Reserves more for a running call; `undefined` when granted. A hard quota may refuse; rates and slots never do. */
  topUp(lease: AdmissionLease, more: Reservation): MaybePromise<LimitRefusal | undefined>;
  /** The call is about to wait for provider capacity; refused when `queued` is reached at some level. */
  enterQueue(lease: AdmissionLease): MaybePromise<LimitRefusal | undefined>;
  /** The call waits no longer. Harmless when it never waited. */
  leaveQueue(lease: AdmissionLease): MaybePromise<void>;
  /** Ends a lease. A second settlement of the same lease changes nothing and returns false. */
  settle(lease: AdmissionLease, settlement: Settlement): MaybePromise<boolean>;
  /**
   * The refusal that every call of at least so many tokens would get now, or undefined. Takes nothing. It refuses nobody
   * whom `admit` would admit; the other way round it may be wrong.
   *
   * @param tokens at least 1.
   */
  look(scope: LimitScope, tokens: number): MaybePromise<LimitRefusal | undefined>;
  /** What a key's caller may know of its limits now; takes nothing. */
  view(scope: LimitScope): MaybePromise<LimitsView>;
  /** Takes one request from the rate buckets and nothing else (a cache hit). */
  takeRequest(scope: LimitScope): MaybePromise<LimitRefusal | undefined>;
  /** Renews this gateway's liveness lease, on which all of its slots hang. Every 3 s; the lease lasts 10 s. */
  heartbeat(): MaybePromise<void>;
  /** The quota counters as one JSON-safe value, for the checkpoint on disk. */
  checkpoint(): MaybePromise<QuotaCheckpoint>;
  /**
   * Adds a checkpoint's counters: at boot before the first admission, later what the ledger alone knew. Buckets
   * start full.
   */
  restore(checkpoint: QuotaCheckpoint): MaybePromise<void>;
  /** Adds use that the checkpoint does not hold yet. */
  replay(use: ReplayedUse): MaybePromise<void>;
  /**
   * Levels of the scope with a window whose past is not known: it was made, or cut otherwise, while the period ran,
   * and nobody has said yet what was used before. Empty nearly always, and while a shared store cannot be reached.
   */
  unfounded(scope: LimitScope): MaybePromise<readonly LevelRef[]>;
  /** Every level that has windows here. */
  levelsWithWindows(): readonly LevelRef[];
  /** What the windows of these levels hold now; levels that are not known here are left out. */
  audit(levels: readonly LevelRef[]): MaybePromise<readonly AuditedLevel[]>;
  /**
   * Adds what an audit found. A window that was cut otherwise meanwhile stays as it is, and so does a level that
   * another gateway has amended since its audit. Gives those that were amended.
   */
  amend(amendments: readonly LevelAmendment[]): MaybePromise<readonly LevelRef[]>;
  close(): Promise<void>;
}

/** Quota counters of every window that has any use: only what was really used, never reservations. */
export interface QuotaCheckpoint {
  readonly version: 1;
  readonly savedAtMs: number;
  readonly windows: readonly {
    readonly level: Level;
    readonly id: string;
    readonly quota: string;
    /** What the window counted and how it cut time; use of another meter means nothing. */
    readonly meter?: QuotaMeter | undefined;
    readonly cut?: string | undefined;
    /** Start of each sub-window (epoch ms) and the use in it, oldest first. */
    readonly steps: readonly (readonly [startMs: number, used: number])[];
  }[];
}
