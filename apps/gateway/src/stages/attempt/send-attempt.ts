import {
  type CallAttempt,
  type Clock,
  type PlannedAttempt,
  type ProviderAdapter,
  type UpstreamFault,
  type UpstreamRequest,
  priceUsage,
  zeroUsage,
} from '@sluice/contracts';
import { rateLimitsOf, type Transport } from '@sluice/providers';
import { expectedInput } from '../../metering/estimated-input.ts';
import type { BodyPool } from '../../bodies/body-pool.ts';
import { ownerOf } from '../../bodies/job-owner.ts';
import type { Call, Resolved } from '../../call.ts';
import { tierOnly } from '../../metering/asked-use.ts';
import { countsAgainst } from '../../upstream/counts-against.ts';
import type { LargeAnswer } from '../../upstream/upstream-call.ts';
import { openUpstream } from '../../upstream/open-upstream.ts';
import { accountServed, noteAccount, type AccountDeps } from '../../upstream/account-verdicts.ts';
import type { AdapterLookup } from '../../planning/static-plan.ts';
import type { Attempt, ReadyAttempt } from './one-attempt.ts';
import type { UnknownModel } from '../../upstream/unknown-models.ts';
import { OUTCOME_OF_FAULT } from '../../upstream/outcome-of-fault.ts';

export interface SendDeps extends AccountDeps {
  readonly clock: Clock;
  readonly adapters: AdapterLookup;
  readonly transport: Transport;
  /** Works on bodies and answers that are too large for the event loop. */
  readonly bodies: BodyPool;
  /** A provider does not know the name that the operator gave for a model. */
  readonly onUnknownModel?: (unknown: UnknownModel) => void;
}

export type SendResult =
  | { readonly kind: 'answered' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly fault: UpstreamFault };

/** Sends what was acquired for, waits until it is decided, and tells breaker and account what came of it. */
export async function sendAttempt(
  deps: SendDeps,
  attempt: ReadyAttempt,
  request: UpstreamRequest,
): Promise<SendResult> {
  const { call, plan, entry, capacity, slot, pass } = attempt;
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
    queue_ms: attempt.queueMs,
    duration_ms: 0,
  };
  call.attempts.push(record);
  call.rateUse = slot.gateUse;
  const result = await openUpstream({
    transport: deps.transport,
    adapter: deps.adapters(entry.provider.dialect) as ProviderAdapter,
    request,
    inbound: (call.resolved as Resolved).inbound,
    expectedInput: () => expectedInput(call),
    attempt: entry,
    attemptIndex: record.index,
    cancel: call.cancel,
    connectMs: plan.deadlines.connectMs,
    // Not cut to what the total leaves: that runs on its own, and is not the provider's fault.
    firstByteMs: plan.deadlines.firstByteMs,
    idleMs: plan.deadlines.idleMs,
    readLarge: (body) => readLarge(call, deps, entry, body),
    onReleased: () => {
      record.duration_ms = clock.monotonic() - sentAt;
      slot.release();
    },
    onHeaders: (headers) => {
      headersAt = clock.monotonic();
      record.ttfb_ms = headersAt - sentAt;
      const limits = rateLimitsOf(headers, clock.now());
      if (limits !== undefined) capacity.rates.told(entry.model, limits);
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
      pass.answers();
      call.account = attempt;
      accountServed(deps, attempt);
      return ANSWERED;
    case 'cancelled':
      capacity.account.inconclusive(attempt.use);
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
        // A drain is ours, not the caller's.
        if (call.cancel.reason !== 'draining') call.givenUp = true;
        pass.ignore();
      }
      chargeInput(attempt, record);
      return result;
    case 'failed':
      noteFault(deps, attempt, record, result.fault);
      return result;
  }
}

/** A whole answer, read by a worker. */
async function readLarge(call: Call, { bodies }: SendDeps, entry: PlannedAttempt, body: Buffer): Promise<LargeAnswer> {
  const { operation, stream, wantsUsage } = (call.resolved as Resolved).inbound;
  const end = await bodies.run(
    {
      kind: 'answer',
      call: { operation, stream, wantsUsage },
      dialect: entry.provider.dialect,
      expectedInput: expectedInput(call),
    },
    body,
    ownerOf(call),
    call.cancel,
  );
  if (end.kind === 'cancelled') return 'cancelled';
  return end.kind === 'done'
    ? { parsed: end.result, body: end.bytes }
    : { parsed: { kind: 'malformed', status: 200, detail: `a worker could not read the answer: ${end.kind}` }, body };
}

const ANSWERED: SendResult = { kind: 'answered' };

function noteFault(deps: SendDeps, attempt: Attempt, record: CallAttempt, fault: UpstreamFault): void {
  const { plan, entry, pass } = attempt;
  record.outcome = OUTCOME_OF_FAULT[fault.kind];
  if (fault.status !== undefined) record.status = fault.status;
  const isProviders = countsAgainst(fault, plan.deadlines, entry.provider);
  if (isProviders) pass.fail();
  else pass.ignore();
  if (wasAtWork(fault, record)) {
    chargeInput(attempt, record);
    if (!isProviders) attempt.call.givenUp = true;
  }
  noteAccount(deps, attempt, fault);
  if (fault.kind === 'model_unknown')
    deps.onUnknownModel?.({
      provider: entry.provider.id,
      model: entry.model,
      providerModel: entry.providerModel,
      requestId: attempt.call.id,
    });
}

/** The provider had the request and was silent, or answered 200 and broke off: it charges the input all the same. */
function wasAtWork({ kind, deadline, status = 200 }: UpstreamFault, { ttfb_ms: ttfb }: CallAttempt): boolean {
  if (kind === 'timeout') return deadline !== 'connect';
  return (kind === 'truncated' || kind === 'malformed') && status < 300 && ttfb !== undefined;
}

/** What an attempt without an answer costs us: its input, which nobody has counted. */
function chargeInput({ call, entry }: Attempt, record: CallAttempt): void {
  const usage = { ...zeroUsage(), input: expectedInput(call) };
  record.usage = usage;
  record.usage_source = 'estimate';
  record.cost_nanousd =
    entry.price === undefined ? 0 : priceUsage(usage, entry.price, tierOnly((call.resolved as Resolved).askedUse));
}
