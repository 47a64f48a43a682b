import type { Clock } from '@sluice/contracts';

/** How an account at a provider stands. */
export type AccountState =
  | { readonly kind: 'ok' }
  /** The provider limits us: not used before `untilMs`, epoch milliseconds. */
  | { readonly kind: 'cooling'; readonly untilMs: number }
  /**
   * The provider, or the lack of a secret, refuses us. From `retryAtMs` (epoch milliseconds) on one call at a time
   * tries again.
   */
  | {
      readonly kind: 'refused';
      readonly status: number | undefined;
      readonly sinceMs: number;
      readonly retryAtMs: number;
    };

/** What a call may do with an account: use it, try whether it is accepted again, or nothing. */
export type AccountUse = 'use' | 'probe' | undefined;

export interface AccountOptions {
  readonly clock: Clock;
  /** How long a rate limit without a Retry-After rests the account. */
  readonly coolingMs?: number;
  /** No wish of the provider's rests it longer. */
  readonly maxCoolingMs?: number;
  /** How long a refused account is left alone before each probe. */
  readonly refusedRestMs?: number;
  /** A probe without an answer gives its place to another after this long. */
  readonly probeTimeoutMs?: number;
  /** An account that served a call this lately is not refused by a status that may be one call's own (402, 403). */
  readonly provenMs?: number;
}

/** The standing of one account, apart from the breaker: a wrong secret says nothing about the provider's health. */
export interface Account {
  readonly state: AccountState;
  /** Whether a call could go now. Takes nothing. */
  readonly usable: boolean;
  /** Leave for one call. A `probe` must be answered with `accepted`, `refused` or `inconclusive`. */
  tryUse(): AccountUse;
  /** Milliseconds until a call may go; 0 when it may now. */
  restMs(): number;
  rateLimited(retryAfterMs: number | undefined): void;
  /**
   * A call was refused in a way that speaks of the account. A 402 or 403 changes nothing while the account has just
   * served another call: it may be about what that one call asked for, and the next ones will tell.
   *
   * @returns true when this begins an episode: the moment to tell people, once.
   */
  refused(status: number | undefined): boolean;
  /** The provider served a call by this account. */
  served(): void;
  /** The provider took a probe. @returns true when this ends an episode. */
  accepted(): boolean;
  /** A probe ended without a word about the account; the next one may go at once. */
  inconclusive(): void;
}

/** All times on the monotonic clock. */
type Inner =
  | { readonly kind: 'ok' }
  | { readonly kind: 'cooling'; readonly untilMs: number }
  | { readonly kind: 'refused'; readonly status: number | undefined; readonly sinceMs: number; retryAtMs: number };

const OK = { kind: 'ok' } as const;

/** An account that starts well. There is no timer: each rest is computed when somebody looks. */
export function createAccount({
  clock,
  coolingMs = 1_000,
  maxCoolingMs = 60_000,
  refusedRestMs = 30_000,
  probeTimeoutMs = 60_000,
  provenMs = 10_000,
}: AccountOptions): Account {
  let inner: Inner = OK;
  let servedAtMs = -Infinity;

  const epochOf = (monotonicMs: number): number => clock.now() + (monotonicMs - clock.monotonic());

  const restMs = (): number => {
    switch (inner.kind) {
      case 'ok':
        return 0;
      case 'cooling':
        return Math.max(0, inner.untilMs - clock.monotonic());
      case 'refused':
        return Math.max(0, inner.retryAtMs - clock.monotonic());
    }
  };

  return {
    get state(): AccountState {
      if (inner.kind === 'cooling' && restMs() === 0) inner = OK;
      if (inner.kind === 'ok') return OK;
      if (inner.kind === 'cooling') return { kind: 'cooling', untilMs: epochOf(inner.untilMs) };
      return {
        kind: 'refused',
        status: inner.status,
        sinceMs: epochOf(inner.sinceMs),
        retryAtMs: epochOf(inner.retryAtMs),
      };
    },
    get usable() {
      return inner.kind === 'ok' || restMs() === 0;
    },
    restMs,
    tryUse() {
      if (inner.kind === 'ok') return 'use';
      if (restMs() > 0) return undefined;
      if (inner.kind === 'refused') {
        inner.retryAtMs = clock.monotonic() + probeTimeoutMs;
        return 'probe';
      }
      inner = OK;
      return 'use';
    },
    rateLimited(retryAfterMs) {
      // A refused account stays refused until a probe was accepted: this may be a call from before.
      const untilMs = clock.monotonic() + Math.min(retryAfterMs ?? coolingMs, maxCoolingMs);
      if (inner.kind === 'cooling' && inner.untilMs >= untilMs) return;
      if (inner.kind !== 'refused') inner = { kind: 'cooling', untilMs };
    },
    refused(status) {
      const now = clock.monotonic();
      const begins = inner.kind !== 'refused';
      if (begins && (status === 402 || status === 403) && now - servedAtMs < provenMs) return false;
      inner = {
        kind: 'refused',
        status,
        sinceMs: inner.kind === 'refused' ? inner.sinceMs : now,
        retryAtMs: now + refusedRestMs,
      };
      return begins;
    },
    served() {
      servedAtMs = clock.monotonic();
    },
    accepted() {
      if (inner.kind !== 'refused') return false;
      inner = OK;
      return true;
    },
    inconclusive() {
      if (inner.kind === 'refused') inner.retryAtMs = Math.min(inner.retryAtMs, clock.monotonic());
    },
  };
}
