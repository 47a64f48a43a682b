import type { Clock } from '@sluice/contracts';

/** How an account at a provider stands for everybody. */
export type AccountState =
  | { readonly kind: 'ok' }
  /** The provider limits the whole account: not used before `untilMs`, epoch milliseconds. */
  | { readonly kind: 'cooling'; readonly untilMs: number }
  /** The provider, or the lack of a secret, refuses us. From `retryAtMs` (epoch milliseconds) on, one call at a time tries again. */
  | {
      readonly kind: 'refused';
      readonly status: number | undefined;
      readonly sinceMs: number;
      readonly retryAtMs: number;
    };

/** Whom a verdict concerns: without a tenant every one of them, without a model all models of the account. */
export interface AccountScope {
  readonly model?: string;
  readonly tenantId?: string;
}

/** One thing that rests or is refused, for those who look at it. */
export interface AccountRest extends AccountScope {
  readonly kind: 'limited' | 'refused';
  /** Of a refusal; undefined when the secret is missing. */
  readonly status?: number | undefined;
  /** Epoch milliseconds. */
  readonly untilMs: number;
}

/** Leave for one call. A `probe` must be answered with one of the account's verdicts or with `inconclusive`. */
export interface AccountUse {
  readonly tenantId: string;
  readonly model: string;
  readonly probe: boolean;
  /** How many verdicts the account had heard when leave was given. */
  readonly born: number;
}

/**
 * Whom the provider means by a rate limit. `caller`: it does not say, so that one tenant's own burst or its too large
 * request may be the cause. `model`: it says that nothing remains of the model's rate. `account`: it names the account.
 */
export type LimitReach = 'caller' | 'model' | 'account';

/** What one rate limit says of the account. */
export interface LimitVerdict {
  /** It concerns more than the tenant that met it. */
  readonly forAll: boolean;
  /** A tenant is served call after call meanwhile, so it is no limit of the account's: several tenants met their own. */
  readonly othersServed: boolean;
  /** The refusal that the answer ends, if any. */
  readonly ended: AccountScope | undefined;
}

export interface AccountOptions {
  readonly clock: Clock;
  /** How long a rate limit without a Retry-After rests, milliseconds. */
  readonly coolingMs?: number;
  /** No wish of the provider's rests longer. */
  readonly maxCoolingMs?: number;
  /** How long something refused is left alone before each probe. */
  readonly refusedRestMs?: number;
  /** A probe without an answer gives its place to the same tenant again after this long. */
  readonly probeTimeoutMs?: number;
  /** What two tenants meet within this long, with nobody else served in between, is no longer one tenant's own. */
  readonly suspicionMs?: number;
  /** A tenant that was served this lately is not held back by what others met. */
  readonly evidenceMs?: number;
  /** Tenants that are remembered for each model, at least; at most twice as many. */
  readonly maxTenants?: number;
}

/**
 * The standing of one account, apart from the breaker: a wrong secret says nothing about the provider's health. What
 * one tenant met concerns that tenant on that model. It concerns others once a second tenant met it while nobody else
 * was served, or when the provider says so; and then only those who have no recent success of their own.
 */
export interface Account {
  readonly state: AccountState;
  /** What rests and what is refused, whole account first; at most `most` entries. */
  rests(most: number): AccountRest[];
  /** Leave for one call; undefined when it must not be made. */
  tryUse(tenantId: string, model: string): AccountUse | undefined;
  /** Milliseconds until such a call may go; 0 when it may now. Takes nothing. */
  restMs(tenantId: string, model: string): number;
  /** Whether it is a refusal that holds such a call back. */
  isRefused(tenantId: string, model: string): boolean;
  /** The provider limits the rate. */
  rateLimited(
    use: AccountUse,
    limit: { readonly retryAfterMs: number | undefined; readonly reach: LimitReach },
  ): LimitVerdict;
  /**
   * The provider refuses the account. A 403 may be about what one caller asked for, and so may a refusal without a
   * status of its own; any other is the account's at once, because no caller can cause it.
   *
   * @param ofAccount the provider's words mean the account as a whole; by the status unless given.
   * @returns what it concerns when this begins an episode: the moment to tell people, once.
   */
  refused(use: AccountUse, status: number | undefined, ofAccount?: boolean): AccountScope | undefined;
  /** There is no secret to call with: the account's, at once. @returns as `refused`. */
  secretMissing(use: AccountUse): AccountScope | undefined;
  /** The provider served a call. @returns the refusal that this ends, if any. */
  served(use: AccountUse): AccountScope | undefined;
  /** The provider took the account but not the call, as with a 400. @returns the refusal that this ends, if any. */
  accepted(use: AccountUse): AccountScope | undefined;
  /** The call ended without a word about the account; the next probe may go at once. */
  inconclusive(use: AccountUse): void;
}
