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
import type { Call, Resolved } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { secretMissing } from '../../upstream/account-verdicts.ts';
import type { Breakers } from '../../upstream/breakers.ts';
import type { AccountDemand, Capacity } from '../../upstream/capacity.ts';
import { startedEvent } from '../../metering/usage-events.ts';
import { refusalOf } from '../../refusals/limit-refusal.ts';
import type { Attempt, ReadyAttempt } from './one-attempt.ts';
import { sendAttempt, type SendDeps, type SendResult } from './send-attempt.ts';
import { type SlotOutcome, waitForSlot } from './wait-for-slot.ts';

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
  const pass = breaker.tryEnter(tenantOf(call));
  if (pass === undefined) return breakerOpen(breaker.waitMs(tenantOf(call)));
  const demand = demandOf(call, plan);
  const capacity = deps.capacity.pick(entry, call.config.version, demand);
  const use = capacity?.account.tryUse(demand.tenantId, entry.model);
  if (capacity === undefined || use === undefined) {
    pass.ignore();
    return accountsRest(deps, { call, plan, entry });
  }
  const attempt: Attempt = {
    requestId: call.id,
    call,
    plan,
    entry,
    breaker,
    pass,
    capacity,
    use,
    slot: undefined,
    queueMs: 0,
  };
  return finish(deps, attempt);
}

/** What the attempt wants of an account: what the call reserved, and a wait as long as for a slot. */
export function demandOf(call: Call, { queueTimeoutMs }: AttemptPlan): AccountDemand {
  const { inputTokens = 0, outputTokens = 0 } = call.reservation ?? {};
  return {
    tenantId: tenantOf(call),
    tokens: inputTokens + outputTokens,
    mayWaitMs: queueTimeoutMs,
  };
}

/** The rest of an attempt, with the account that it uses. */
async function finish(deps: TryDeps, attempt: Attempt): Promise<TryResult> {
  const { call } = attempt;
  const queuedAt = deps.clock.monotonic();
  try {
    // Who waited with the place of a probe in hand would keep everybody from finding out that the provider is well
    // again.
    const found = waitForSlot(deps.limits, attempt, !attempt.pass.probe && !attempt.use.probe);
    const outcome = found instanceof Promise ? await found : found;
    // Of a slot that was free, nothing: a pause of this process is no wait for capacity.
    attempt.queueMs = isSlot(outcome) ? outcome.waitMs : deps.clock.monotonic() - queuedAt;
    call.timing.queueMs += attempt.queueMs;
    if (!isSlot(outcome)) return abandon(attempt, noSlot(call, outcome));
    attempt.slot = outcome;
    if (outcome.waitMs > 0) {
      const changed = changedMeanwhile(deps, attempt);
      if (changed !== undefined) return abandon(attempt, changed);
    }
    const secret = secretOf(deps, attempt);
    if (secret === MISSING) return abandon(attempt, accountsRest(deps, attempt));
    const request = buildRequest(call, deps, attempt.entry, secret);
    if (isRefusal(request)) return abandon(attempt, { kind: 'refused', refusal: request });
    const refusal = await recordStart(call, deps);
    if (refusal !== undefined) return abandon(attempt, { kind: 'refused', refusal });
    if (call.cancel.reason !== undefined) return abandon(attempt, { kind: 'cancelled' });
    return await sendAttempt(deps, attempt as ReadyAttempt, request);
  } catch (error) {
    abandon(attempt, undefined);
    throw error;
  }
}

/** Gives everything back of an attempt that was not sent. */
function abandon<Result>({ pass, slot, use, capacity }: Attempt, result: Result): Result {
  pass.ignore();
  slot?.gateUse?.giveBack();
  slot?.release();
  capacity.account.inconclusive(use);
  return result;
}

function noSlot(call: Call, why: Exclude<SlotOutcome, SlotLease>): TryResult {
  if (why === 'aborted') return { kind: 'cancelled' };
  if (why === 'timeout')
    return skipped('queue_timeout', QUEUE_TRIGGERS, { code: 'queue_timeout', retryAfterMs: 1_000 });
  return { kind: 'refused', refusal: refusalOf(why, (call.key as CompiledKey).workspace.policy) };
}

/** Who waited may find that the provider fails by now, or that the account rests: a whole queue would run into it. */
function changedMeanwhile(deps: TryDeps, attempt: Attempt): TryResult | undefined {
  const { breaker, pass, use, capacity } = attempt;
  const waitMs = pass.probe ? 0 : breaker.waitMs(use.tenantId);
  if (waitMs > 0) return breakerOpen(waitMs);
  return !use.probe && capacity.account.restMs(use.tenantId, use.model) > 0 ? accountsRest(deps, attempt) : undefined;
}

function breakerOpen(retryAfterMs: number): TryResult {
  return skipped('breaker_open', BREAKER_TRIGGERS, {
    code: 'upstream_unavailable',
    retryAfterMs: Math.max(1, retryAfterMs),
  });
}

function tenantOf({ key }: Call): string {
  return (key as CompiledKey).workspace.tenant.id;
}

function accountsRest(
  { capacity }: TryDeps,
  { call, plan, entry }: Pick<Attempt, 'call' | 'plan' | 'entry'>,
): TryResult {
  const rest = capacity.restOf(entry, demandOf(call, plan)) ?? { from: 'rate_limit', forMs: 1 };
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
function secretOf(deps: TryDeps, attempt: Attempt): string | undefined | typeof MISSING {
  const ref = attempt.capacity.credential.secret;
  if (ref === undefined) return undefined;
  const secret = deps.secrets.find(ref);
  if (secret !== undefined) return secret;
  secretMissing(deps, attempt);
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
  const request = (deps.adapters(entry.provider.dialect) as ProviderAdapter).buildRequest(
    (call.resolved as Resolved).inbound,
    targetOf(call, entry, secret),
  );
  // By it the provider's own records can be held against the ledger; OpenAI logs this header.
  if (!isRefusal(request)) {
    request.headers.push(HEADER.clientRequestId, call.id);
    call.dropped = request.dropped;
  }
  return request;
}

/** Where an entry of the plan sends a call. */
export function targetOf(call: Call, entry: PlannedAttempt, secret: string | undefined): UpstreamTarget {
  const maxOutputTokens = call.config.models.get(entry.model)?.maxOutputTokens;
  return {
    baseUrl: entry.provider.baseUrl,
    dialect: entry.provider.dialect,
    providerModel: entry.providerModel,
    secret,
    extraHeaders: entry.provider.headers,
    tenantMarker: (call.key as CompiledKey).workspace.workspace.uuid,
    carryFields: entry.provider.carryFields,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

function skipped(reason: SkipReason, triggers: readonly FailoverTrigger[], refusal: Refusal): TryResult {
  return { kind: 'skipped', reason, triggers, refusal };
}

function isSlot(value: SlotLease | object | string | undefined): value is SlotLease {
  return typeof value === 'object' && 'release' in value;
}
