import {
  type AttemptPlan,
  type CallAttempt,
  type Clock,
  type PlannedAttempt,
  type ProviderAdapter,
  type UpstreamFault,
  type UpstreamRequest,
  zeroUsage,
} from '@sluice/contracts';
import type { SlotLease } from '@sluice/limits';
import type { Transport } from '@sluice/providers';
import type { AccountUse, BreakerPass } from '@sluice/resilience';
import type { Call, Resolved } from '../../call.ts';
import type { CredentialCapacity } from '../../upstream/capacity.ts';
import { countsAgainst } from '../../upstream/counts-against.ts';
import { openUpstream } from '../../upstream/open-upstream.ts';
import type { SecretResolver } from '../../upstream/secrets.ts';
import type { AdapterLookup } from '../route/static-plan.ts';
import { OUTCOME_OF_FAULT } from './outcome-of-fault.ts';

export interface SendDeps extends AccountDeps {
  readonly clock: Clock;
  readonly adapters: AdapterLookup;
  readonly transport: Transport;
}

export interface AccountDeps {
  readonly secrets: SecretResolver;
  /** A provider refuses an account, or its secret is missing: told once when that begins and once when it is over. */
  readonly onAccount: (change: AccountChange) => void;
}

export interface AccountChange {
  readonly to: 'refused' | 'accepted';
  readonly provider: string;
  readonly credential: string;
  readonly requestId: string;
  /** Of a refusal; undefined when the secret is missing. */
  readonly status: number | undefined;
}

export type SendResult =
  | { readonly kind: 'answered' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly fault: UpstreamFault };

/** Sends what was acquired for, waits until it is decided, and tells breaker and account what came of it. */
export async function sendAttempt(
  call: Call,
  deps: SendDeps,
  plan: AttemptPlan,
  entry: PlannedAttempt,
  capacity: CredentialCapacity,
  use: AccountUse,
  request: UpstreamRequest,
  slot: SlotLease,
  pass: BreakerPass,
  queueMs: number,
): Promise<SendResult> {
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
    connectMs: plan.deadlines.connectMs,
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
      call.account = capacity.account;
      accountAccepted(call.id, deps, capacity, use);
      return ANSWERED;
    case 'cancelled':
      if (use === 'probe') capacity.account.inconclusive();
      // Our own total deadline, after the provider was silent for longer than it is given: that is its failure.
      if (
        call.cancel.reason === 'total_deadline' &&
        headersAt === undefined &&
        record.duration_ms >= entry.provider.breaker.silenceFailsAfterMs
      ) {
        record.outcome = 'timeout';
        pass.fail();
      } else {
        record.outcome = 'cancelled';
        pass.ignore();
      }
      return result;
    case 'failed':
      noteFault(call, deps, plan, entry, capacity, use, record, pass, result.fault);
      return result;
  }
}

const ANSWERED: SendResult = { kind: 'answered' };

function noteFault(
  call: Call,
  deps: SendDeps,
  plan: AttemptPlan,
  entry: PlannedAttempt,
  capacity: CredentialCapacity,
  use: AccountUse,
  record: CallAttempt,
  pass: BreakerPass,
  fault: UpstreamFault,
): void {
  record.outcome = OUTCOME_OF_FAULT[fault.kind];
  if (fault.status !== undefined) record.status = fault.status;
  if (countsAgainst(fault, plan.deadlines, entry.provider)) pass.fail();
  else pass.ignore();
  noteAccount(call.id, deps, capacity, use, fault);
}

/** What a fault says about the account that was used. */
export function noteAccount(
  requestId: string,
  deps: AccountDeps,
  capacity: CredentialCapacity,
  use: AccountUse,
  fault: UpstreamFault,
): void {
  switch (fault.kind) {
    case 'account':
      accountRefused(requestId, deps, capacity, fault.status);
      return;
    case 'rate_limited':
      accountAccepted(requestId, deps, capacity, use);
      capacity.account.rateLimited(fault.retryAfterMs);
      return;
    case 'caller':
    case 'context_window':
      accountAccepted(requestId, deps, capacity, use);
      return;
    default:
      if (use === 'probe') capacity.account.inconclusive();
  }
}

/** The account is left alone from now on; people hear of it once. */
export function accountRefused(
  requestId: string,
  deps: AccountDeps,
  { provider, credential, account }: CredentialCapacity,
  status: number | undefined,
): void {
  if (credential.secret !== undefined) deps.secrets.forget(credential.secret);
  if (account.refused(status))
    deps.onAccount({ to: 'refused', provider, credential: credential.id, requestId, status });
}

/** The provider took a call by this account; where it was a probe, the account is well again. */
export function accountAccepted(
  requestId: string,
  deps: AccountDeps,
  { provider, credential, account }: CredentialCapacity,
  use: AccountUse,
): void {
  account.served();
  if (use === 'probe' && account.accepted())
    deps.onAccount({ to: 'accepted', provider, credential: credential.id, requestId, status: undefined });
}
