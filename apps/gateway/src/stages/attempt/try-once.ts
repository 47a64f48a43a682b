import {
  type AttemptPlan,
  type FailoverTrigger,
  HEADER,
  isRefusal,
  type LimitStore,
  type MaybePromise,
  type PlannedAttempt,
  type ProviderAdapter,
  type Refusal,
  type UpstreamTarget,
  type UsageOutbox,
} from '@sluice/contracts';
import type { SlotLease } from '@sluice/limits';
import type { AccountUse, Breaker, BreakerPass } from '@sluice/resilience';
import type { Call, Resolved } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import type { Breakers } from '../../upstream/breakers.ts';
import { NO_DEMAND, type Capacity, type CredentialCapacity } from '../../upstream/capacity.ts';
import { hasRate, type RateDemand, type RateUse } from '../../upstream/credential-rate.ts';
import { startedEvent } from '../../metering/usage-events.ts';
import { refusalOf } from '../admit/limit-refusal.ts';
import { accountRefused, sendAttempt, type SendDeps, type SendResult } from './send-attempt.ts';
import { type SlotOutcome, waitForSlot } from './wait-for-slot.ts';

export { OUTCOME_OF_FAULT } from './outcome-of-fault.ts';

export interface TryDeps extends SendDeps {
  readonly limits: LimitStore;
  readonly outbox: Pick<UsageOutbox, 'appendStarted'>;
  readonly breakers: Breakers;
  readonly capacity: Capacity;
  /** The start of a call could not be recorded; the call is refused. */
  readonly onRecordFault: (call: Call, error: unknown) => void;
}

export type TryResult =
  | SendResult
  /** Ends the call. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Nothing was sent; the next entry may do better. */
  | {
      readonly kind: 'skipped';
      readonly reason: SkipReason;
      readonly triggers: readonly FailoverTrigger[];
      readonly refusal: Refusal;
    };

type SkipReason = 'breaker_open' | 'no_capacity' | 'queue_timeout';

/** Which words of a policy stand for a place that was not even asked. */
const BREAKER_TRIGGERS: readonly FailoverTrigger[] = ['error', 'timeout'];
const ACCOUNT_TRIGGERS: readonly FailoverTrigger[] = ['error'];
const LIMIT_TRIGGERS: readonly FailoverTrigger[] = ['rate_limit'];
const QUEUE_TRIGGERS: readonly FailoverTrigger[] = ['rate_limit', 'timeout'];

/** One attempt: breaker → credential with capacity → fair queue → record → call. What it acquires, it gives back. */
export function tryOnce(call: Call, deps: TryDeps, plan: AttemptPlan, entry: PlannedAttempt): MaybePromise<TryResult> {
  const breaker = deps.breakers.of(entry, call.config.version);
  const pass = breaker.tryEnter((call.key as CompiledKey).workspace.tenant.id);
  if (pass === undefined) {
    return breakerOpen(deps, breaker);
  }
  const demand = demandOf(call, plan, entry);
  const capacity = deps.capacity.pick(entry, call.config.version, demand);
  const use = capacity?.account.tryUse();
  if (capacity === undefined || use === undefined) {
    pass.ignore();
    return accountsRest(call, deps, plan, entry);
  }
  if (capacity.rate === undefined) return attemptWith(call, deps, plan, entry, breaker, pass, capacity, use);
  return attemptWithin(capacity.rate.take(demand), call, deps, plan, entry, breaker, pass, capacity, use);
}

/** An attempt by an account whose rate is kept; what it took of it goes back where nothing was sent. */
async function attemptWithin(
  rateUse: RateUse,
  call: Call,
  deps: TryDeps,
  plan: AttemptPlan,
  entry: PlannedAttempt,
  breaker: Breaker,
  pass: BreakerPass,
  capacity: CredentialCapacity,
  use: AccountUse,
): Promise<TryResult> {
  const sent = call.attempts.length;
  call.rateUse = rateUse;
  try {
    return await attemptWith(call, deps, plan, entry, breaker, pass, capacity, use);
  } finally {
    if (call.attempts.length === sent) {
      call.rateUse = undefined;
      rateUse.giveBack();
    }
  }
}

/** What the attempt may take of an account's rate: what the call reserved. Nothing where no account has one. */
function demandOf(call: Call, { maxPoolSharePercent }: AttemptPlan, { credentials }: PlannedAttempt): RateDemand {
  let rated = false;
  for (const credential of credentials) rated ||= hasRate(credential);
  if (!rated) return NO_DEMAND;
  const { inputTokens = 0, outputTokens = 0 } = call.reservation ?? {};
  return {
    tenantId: (call.key as CompiledKey).workspace.tenant.id,
    maxSharePercent: maxPoolSharePercent,
    tokens: inputTokens + outputTokens,
  };
}

/** The rest of an attempt, with the account that it uses. */
async function attemptWith(
  call: Call,
  deps: TryDeps,
  plan: AttemptPlan,
  entry: PlannedAttempt,
  breaker: Breaker,
  pass: BreakerPass,
  capacity: CredentialCapacity,
  use: AccountUse,
): Promise<TryResult> {
  const queuedAt = deps.clock.monotonic();
  let slot: SlotOutcome | undefined;
  try {
    // Who waited with the place of a probe in hand would keep everybody from finding out that the provider is well
    // again.
    const found = waitForSlot(call, deps.limits, plan, capacity.pool, !pass.probe && use === 'use');
    slot = found instanceof Promise ? await found : found;
    // Of a slot that was free, nothing: a pause of this process is no wait for capacity.
    const queueMs = isSlot(slot) ? slot.waitMs : deps.clock.monotonic() - queuedAt;
    call.timing.queueMs += queueMs;
    if (!isSlot(slot)) return abandon(capacity, use, pass, undefined, noSlot(call, slot));
    if (slot.waitMs > 0) call.rateUse?.sentNow();
    const changed =
      slot.waitMs > 0 ? changedMeanwhile(call, deps, plan, entry, capacity, use, breaker, pass) : undefined;
    if (changed !== undefined) return abandon(capacity, use, pass, slot, changed);
    const secret = secretOf(call, deps, capacity);
    if (secret === MISSING) return abandon(capacity, 'use', pass, slot, accountsRest(call, deps, plan, entry));
    const request = buildRequest(call, deps, entry, secret);
    if (isRefusal(request)) return abandon(capacity, use, pass, slot, { kind: 'refused', refusal: request });
    const refusal = await recordStart(call, deps);
    if (refusal !== undefined) return abandon(capacity, use, pass, slot, { kind: 'refused', refusal });
    if (call.cancel.reason !== undefined) return abandon(capacity, use, pass, slot, { kind: 'cancelled' });
    return await sendAttempt(call, deps, plan, entry, capacity, use, request, slot, pass, queueMs);
  } catch (error) {
    abandon(capacity, use, pass, isSlot(slot) ? slot : undefined, undefined);
    throw error;
  }
}

/** Gives everything back of an attempt that was not sent. */
function abandon<Result>(
  capacity: CredentialCapacity,
  use: AccountUse,
  pass: BreakerPass,
  slot: SlotLease | undefined,
  result: Result,
): Result {
  pass.ignore();
  slot?.release();
  if (use === 'probe') capacity.account.inconclusive();
  return result;
}

function noSlot(call: Call, why: Exclude<SlotOutcome, SlotLease>): TryResult {
  if (why === 'aborted') return { kind: 'cancelled' };
  if (why === 'timeout')
    return skipped('queue_timeout', QUEUE_TRIGGERS, { code: 'queue_timeout', retryAfterMs: 1_000 });
  return { kind: 'refused', refusal: refusalOf(why, (call.key as CompiledKey).workspace.policy) };
}

/** Who waited may find that the provider fails by now, or that the account rests: a whole queue would run into it. */
function changedMeanwhile(
  call: Call,
  deps: TryDeps,
  plan: AttemptPlan,
  entry: PlannedAttempt,
  { account }: CredentialCapacity,
  use: AccountUse,
  breaker: Breaker,
  pass: BreakerPass,
): TryResult | undefined {
  if (!pass.probe && breaker.state.kind !== 'closed') return breakerOpen(deps, breaker);
  return use === 'use' && account.state.kind !== 'ok' ? accountsRest(call, deps, plan, entry) : undefined;
}

function breakerOpen({ clock }: TryDeps, breaker: Breaker): TryResult {
  const { retryAtMs } = breaker.report();
  return skipped('breaker_open', BREAKER_TRIGGERS, {
    code: 'upstream_unavailable',
    retryAfterMs: retryAtMs === undefined ? 1_000 : Math.max(1, retryAtMs - clock.now()),
  });
}

function accountsRest(call: Call, { capacity }: TryDeps, plan: AttemptPlan, entry: PlannedAttempt): TryResult {
  const rest = capacity.restOf(entry, demandOf(call, plan, entry)) ?? { from: 'rate_limit', forMs: 1 };
  return rest.from === 'account'
    ? skipped('no_capacity', ACCOUNT_TRIGGERS, { code: 'upstream_account', retryAfterMs: rest.forMs })
    : skipped('no_capacity', LIMIT_TRIGGERS, {
        code: 'upstream_rate_limited',
        refusedBy: 'upstream',
        retryAfterMs: rest.forMs,
      });
}

const MISSING = Symbol('missing');

/**
 * The account's secret, undefined for an account without one. A missing one is an account that is refused before it
 * is asked.
 */
function secretOf(call: Call, deps: TryDeps, capacity: CredentialCapacity): string | undefined | typeof MISSING {
  const ref = capacity.credential.secret;
  if (ref === undefined) return undefined;
  const secret = deps.secrets.find(ref);
  if (secret !== undefined) return secret;
  accountRefused(call.id, deps, capacity, undefined);
  return MISSING;
}

/** What cannot be recorded is not sent. */
export async function recordStart(
  call: Call,
  deps: Pick<TryDeps, 'clock' | 'outbox' | 'onRecordFault'>,
): Promise<Refusal | undefined> {
  if (call.started) return undefined;
  try {
    await deps.outbox.appendStarted(startedEvent(call, deps.clock));
  } catch (error) {
    deps.onRecordFault(call, error);
    return { code: 'metering_full', retryAfterMs: 5_000 };
  }
  call.started = true;
  return undefined;
}

function buildRequest(call: Call, deps: TryDeps, entry: PlannedAttempt, secret: string | undefined) {
  const maxOutputTokens = call.config.models.get(entry.model)?.maxOutputTokens;
  const target: UpstreamTarget = {
    baseUrl: entry.provider.baseUrl,
    dialect: entry.provider.dialect,
    providerModel: entry.providerModel,
    secret,
    extraHeaders: entry.provider.headers,
    tenantMarker: (call.key as CompiledKey).workspace.workspace.uuid,
    carryFields: entry.provider.carryFields,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
  const request = (deps.adapters(entry.provider.dialect) as ProviderAdapter).buildRequest(
    (call.resolved as Resolved).inbound,
    target,
  );
  // By it the provider's own records can be held against the ledger; OpenAI logs this header.
  if (!isRefusal(request)) request.headers.push(HEADER.clientRequestId, call.id);
  return request;
}

function skipped(reason: SkipReason, triggers: readonly FailoverTrigger[], refusal: Refusal): TryResult {
  return { kind: 'skipped', reason, triggers, refusal };
}

function isSlot(value: SlotLease | object | string | undefined): value is SlotLease {
  return typeof value === 'object' && 'release' in value;
}
