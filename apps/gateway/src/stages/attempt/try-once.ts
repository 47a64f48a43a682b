import {
  CALLER_FAULTS,
  type AttemptOutcome,
  type AttemptPlan,
  type CallAttempt,
  type Clock,
  type FaultKind,
  isRefusal,
  type LimitStore,
  type PlannedAttempt,
  type ProviderAdapter,
  type Refusal,
  type UpstreamFault,
  type UpstreamTarget,
  type UsageOutbox,
  zeroUsage,
} from '@sluice/contracts';
import type { SlotLease } from '@sluice/limits';
import type { Breaker, BreakerPass } from '@sluice/resilience';
import type { Transport } from '@sluice/providers';
import type { Call, Resolved } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import type { Breakers } from '../../upstream/breakers.ts';
import type { Capacity, CredentialCapacity } from '../../upstream/capacity.ts';
import type { SecretResolver } from '../../upstream/secrets.ts';
import { openUpstream } from '../../upstream/open-upstream.ts';
import { startedEvent } from '../../metering/usage-events.ts';
import { refusalOf } from '../admit/limit-refusal.ts';
import type { AdapterLookup } from '../route/static-plan.ts';
import { waitForSlot } from './wait-for-slot.ts';

export interface TryDeps {
  readonly clock: Clock;
  readonly limits: LimitStore;
  readonly outbox: Pick<UsageOutbox, 'appendStarted'>;
  readonly adapters: AdapterLookup;
  readonly transport: Transport;
  readonly breakers: Breakers;
  readonly capacity: Capacity;
  readonly secrets: SecretResolver;
  /** The start of a call could not be recorded; the call is refused. */
  readonly onRecordFault: (call: Call, error: unknown) => void;
  readonly onAccountFault: (call: Call, provider: string, credential: string, status: number | undefined) => void;
}

export type TryResult =
  | { readonly kind: 'answered' }
  | { readonly kind: 'cancelled' }
  /** Ends the call. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Nothing was sent; the next entry may do better. */
  | { readonly kind: 'skipped'; readonly reason: 'breaker_open' | 'no_capacity' | 'queue_timeout'; readonly refusal: Refusal }
  | { readonly kind: 'failed'; readonly fault: UpstreamFault };

/** One attempt: breaker → credential with capacity → fair queue → record → call. What it acquires, it gives back. */
export async function tryOnce(call: Call, deps: TryDeps, plan: AttemptPlan, entry: PlannedAttempt): Promise<TryResult> {
  const breaker = deps.breakers.of(entry);
  const pass = breaker.tryEnter();
  if (pass === undefined) {
    return breakerOpen(deps, breaker);
  }
  const capacity = deps.capacity.pick(entry);
  if (capacity === undefined) {
    pass.ignore();
    return accountsRest(deps, entry);
  }
  const queuedAt = deps.clock.monotonic();
  let slot: Awaited<ReturnType<typeof waitForSlot>>;
  try {
    slot = await waitForSlot(call, deps.limits, plan, capacity.pool);
  } catch (error) {
    pass.ignore();
    throw error;
  }
  // Of a slot that was free, nothing: a pause of this process is no wait for capacity.
  const queueMs = isSlot(slot) ? slot.waitMs : deps.clock.monotonic() - queuedAt;
  call.timing.queueMs += queueMs;
  if (!isSlot(slot)) {
    pass.ignore();
    if (slot === 'aborted') return { kind: 'cancelled' };
    if (slot === 'timeout') return skipped('queue_timeout', { code: 'queue_timeout', retryAfterMs: 1_000 });
    return { kind: 'refused', refusal: refusalOf(slot, (call.key as CompiledKey).workspace.policy) };
  }
  const changed = slot.waitMs > 0 ? changedMeanwhile(deps, entry, capacity, breaker, pass) : undefined;
  if (changed !== undefined) {
    pass.ignore();
    slot.release();
    return changed;
  }
  try {
    const request = buildRequest(call, deps, entry, capacity);
    const refusal = isRefusal(request) ? request : await recordStart(call, deps);
    if (isRefusal(request) || refusal !== undefined || call.cancel.reason !== undefined) {
      pass.ignore();
      slot.release();
      return refusal === undefined ? { kind: 'cancelled' } : { kind: 'refused', refusal };
    }
    return await send(call, deps, plan, entry, capacity, request, slot, pass, queueMs);
  } catch (error) {
    pass.ignore();
    slot.release();
    throw error;
  }
}

/** Who waited may find that the provider fails by now, or that the account rests: a whole queue would run into it. */
function changedMeanwhile(deps: TryDeps, entry: PlannedAttempt, { cooldownUntil, accountFaultUntil }: CredentialCapacity, breaker: Breaker, pass: BreakerPass): TryResult | undefined {
  if (!pass.probe && breaker.state.kind !== 'closed') return breakerOpen(deps, breaker);
  return Math.max(cooldownUntil, accountFaultUntil) > deps.clock.monotonic() ? accountsRest(deps, entry) : undefined;
}

function breakerOpen({ clock }: TryDeps, breaker: Breaker): TryResult {
  const { retryAtMs } = breaker.report();
  return skipped('breaker_open', { code: 'upstream_unavailable', retryAfterMs: retryAtMs === undefined ? 1_000 : Math.max(1, retryAtMs - clock.now()) });
}

function accountsRest({ capacity }: TryDeps, entry: PlannedAttempt): TryResult {
  const rest = capacity.restOf(entry);
  return skipped('no_capacity', rest.from === 'account' ? { code: 'upstream_account', retryAfterMs: rest.forMs } : { code: 'upstream_rate_limited', refusedBy: 'upstream', retryAfterMs: rest.forMs });
}

/** What cannot be recorded is not sent. */
async function recordStart(call: Call, deps: TryDeps): Promise<Refusal | undefined> {
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

function buildRequest(call: Call, deps: TryDeps, entry: PlannedAttempt, capacity: CredentialCapacity) {
  const maxOutputTokens = call.config.models.get(entry.model)?.maxOutputTokens;
  const target: UpstreamTarget = {
    baseUrl: entry.provider.baseUrl,
    dialect: entry.provider.dialect,
    providerModel: entry.providerModel,
    secret: capacity.credential.secret === undefined ? undefined : deps.secrets(capacity.credential.secret),
    extraHeaders: entry.provider.headers,
    tenantMarker: (call.key as CompiledKey).workspace.workspace.uuid,
    carryFields: entry.provider.carryFields,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
  return (deps.adapters(entry.provider.dialect) as ProviderAdapter).buildRequest((call.resolved as Resolved).inbound, target);
}

async function send(
  call: Call,
  deps: TryDeps,
  plan: AttemptPlan,
  entry: PlannedAttempt,
  capacity: CredentialCapacity,
  request: Exclude<ReturnType<typeof buildRequest>, Refusal>,
  slot: SlotLease,
  pass: BreakerPass,
  queueMs: number,
): Promise<TryResult> {
  const { clock } = deps;
  const sentAt = clock.monotonic();
  let headersAt: number | undefined;
  const record: CallAttempt = {
    index: call.attempts.length,
    provider: entry.provider.id,
    credential: capacity.credential.id,
    model: entry.model,
    provider_model: entry.providerModel,
    outcome: 'ok',
    usage: zeroUsage(),
    usage_source: 'none',
    cost_nanousd: 0,
    queue_ms: queueMs,
    duration_ms: 0,
  };
  call.attempts.push(record);
  const result = await openUpstream({
    transport: deps.transport,
    adapter: deps.adapters(entry.provider.dialect) as ProviderAdapter,
    request,
    inbound: (call.resolved as Resolved).inbound,
    attempt: entry,
    attemptIndex: record.index,
    cancel: call.cancel,
    // Not cut to what the total leaves: that runs on its own, and is not the provider's fault.
    firstByteMs: plan.deadlines.firstByteMs,
    idleMs: plan.deadlines.idleMs,
    onReleased: () => {
      record.duration_ms = clock.monotonic() - sentAt;
      slot.release();
    },
    onHeaders: () => {
      headersAt = clock.monotonic();
      record.ttfb_ms = headersAt - sentAt;
    },
  });
  call.timing.upstreamWaitMs += (headersAt ?? clock.monotonic()) - sentAt;
  switch (result.kind) {
    case 'whole':
    case 'stream':
      call.timing.firstByteAt = headersAt;
      record.status = result.status;
      call.answer = result;
      call.verdict = pass;
      return { kind: 'answered' };
    case 'cancelled':
      record.outcome = 'cancelled';
      pass.ignore();
      return { kind: 'cancelled' };
    case 'failed':
      noteFault(call, deps, capacity, record, pass, result.fault);
      return result;
  }
}

function noteFault(call: Call, deps: TryDeps, capacity: CredentialCapacity, record: CallAttempt, pass: BreakerPass, fault: UpstreamFault): void {
  record.outcome = OUTCOME_OF_FAULT[fault.kind];
  if (fault.status !== undefined) record.status = fault.status;
  if (fault.kind === 'rate_limited') deps.capacity.rateLimited(capacity, fault.retryAfterMs);
  if (fault.kind === 'account') {
    deps.capacity.accountFault(capacity);
    deps.onAccountFault(call, capacity.provider, capacity.credential.id, fault.status);
  }
  if (CALLER_FAULTS.includes(fault.kind) || fault.kind === 'rate_limited' || fault.kind === 'account') pass.ignore();
  else pass.fail();
}

/** How a fault stands in the record of an attempt. */
export const OUTCOME_OF_FAULT: Readonly<Record<FaultKind, AttemptOutcome>> = {
  connect: 'connect_error',
  timeout: 'timeout',
  server: 'http_error',
  overloaded: 'http_error',
  rate_limited: 'rate_limited',
  account: 'account_error',
  context_window: 'caller_error',
  caller: 'caller_error',
  truncated: 'truncated',
  malformed: 'malformed',
};

function skipped(reason: 'breaker_open' | 'no_capacity' | 'queue_timeout', refusal: Refusal): TryResult {
  return { kind: 'skipped', reason, refusal };
}

function isSlot(value: SlotLease | object | string): value is SlotLease {
  return typeof value === 'object' && 'release' in value;
}

