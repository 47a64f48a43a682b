import {
  type CallSettled,
  type CallStarted,
  type Clock,
  type EventOrigin,
  EVENT_SCHEMA,
  type Price,
  priceClass,
  ratesOf,
  settledEventId,
  startedEventId,
} from '@sluice/contracts';
import { isoTime } from '@sluice/service-kit';
import type { Call, CallFigures, Resolved } from '../call.ts';
import { expectedInput } from './estimated-input.ts';
import type { CompiledKey } from '../compiled-config.ts';

/** A settled call before the outbox gives it its place in the sequence. */
export type UnplacedSettled = Omit<CallSettled, keyof EventOrigin>;

/** What both records of a call begin with. They are spread in front of the rest, where that costs least. */
function beginningOf<Type extends 'call.started' | 'call.settled'>(
  type: Type,
  eventId: string,
  call: Call,
  clock: Clock,
) {
  const key = call.key as CompiledKey;
  const resolved = call.resolved as Resolved;
  const { workspace, tenant } = key.workspace;
  return {
    schema: EVENT_SCHEMA,
    event_id: eventId,
    type,
    occurred_at: isoTime(clock.now()),
    traceparent: call.traceparent,
    request_id: call.id,
    client_request_id: call.clientRequestId,
    tenant_id: tenant.id,
    workspace: workspace.slug,
    workspace_id: workspace.uuid,
    cell_id: workspace.cellId,
    key_id: key.record.keyId,
    operation: call.operation,
    stream: resolved.inbound.stream,
    model_requested: resolved.modelRequested,
    feature: resolved.feature,
    tags: resolved.tags,
    end_user: resolved.endUser,
  } as const;
}

/** What is on disk before the first upstream call: enough to settle the call if this process dies. */
export function startedEvent(call: Call, clock: Clock): CallStarted {
  const resolved = call.resolved as Resolved;
  const plan = call.plan as NonNullable<Call['plan']>;
  const reservation = call.reservation as NonNullable<Call['reservation']>;
  const [first] = plan.entries;
  const input = expectedInput(call);
  return {
    ...beginningOf('call.started', startedEventId(call.id), call, clock),
    reservation: {
      input_tokens: input,
      output_tokens: reservation.outputTokens,
      cost_nanousd: reservation.costNanoUsd,
    },
    provider: first.provider.id,
    model: first.model,
    priority: plan.priority,
    price_version: resolved.priceVersion,
    billed_price: ratesFor(resolved.billedPrice, input, resolved),
    provider_price: first.price === undefined ? undefined : ratesFor(first.price, input, resolved),
    decision: call.routed?.decision,
    shadow: call.routed?.shadow,
  };
}

/** The figures by which a call of this length and tier is priced, should nobody be left to count it. */
function ratesFor(price: Price, input: number, { askedUse }: Resolved): CallStarted['billed_price'] {
  const { inputPicoUsd, outputPicoUsd } = ratesOf(price, input, askedUse?.tier);
  return { input_picousd: inputPicoUsd, output_picousd: outputPicoUsd };
}

/** The one record of a call that was started. */
export function settledEvent(
  call: Call,
  figures: CallFigures,
  status: number,
  errorCode: string | undefined,
  clock: Clock,
): UnplacedSettled {
  const plan = call.plan as NonNullable<Call['plan']>;
  const resolved = call.resolved as Resolved;
  const reservation = call.reservation as NonNullable<Call['reservation']>;
  const answered = call.answer?.attempt;
  const fallback = isFallback(call);
  const now = clock.monotonic();
  return {
    ...beginningOf('call.settled', settledEventId(call.id), call, clock),
    outcome: figures.outcome,
    error_code: errorCode,
    status,
    abort_case: figures.abortCase,
    provider: answered?.provider.id,
    model: answered?.model,
    fallback,
    fallback_reason: fallback ? call.fallbackReason : undefined,
    decision_id: plan.decisionId,
    decision: plan.decisionId === undefined ? undefined : call.routed?.decision,
    shadow: plan.decisionId === undefined ? undefined : call.routed?.shadow,
    priority: plan.priority,
    cache: 'off',
    usage: figures.usage,
    usage_source: figures.usageSource,
    cost_nanousd: figures.costNanoUsd,
    billed_nanousd: figures.billedNanoUsd,
    price_version: resolved.priceVersion,
    estimate: { input_tokens: reservation.inputTokens, output_tokens: reservation.outputTokens },
    finish_reason: figures.finishReason,
    latency: {
      overhead_us: overheadUs(call, now),
      queue_ms: call.timing.queueMs,
      ttfb_ms:
        call.timing.firstByteAt === undefined
          ? undefined
          : Math.max(0, call.timing.firstByteAt - call.timing.startedAt),
      total_ms: now - call.timing.startedAt,
    },
    attempts: call.attempts,
  };
}

/** The answer came from another place than the plan's first. */
export function isFallback(call: Call): boolean {
  return call.answer !== undefined && call.plan !== undefined && call.answer.attempt !== call.plan.entries[0];
}

/** Our own time up to the first upstream byte (or until `now` when none came), whole microseconds. */
export function overheadUs(call: Call, now: number): number {
  const { startedAt, queueMs, upstreamWaitMs, bodyReadMs, firstByteAt } = call.timing;
  return Math.max(0, Math.round(((firstByteAt ?? now) - startedAt - queueMs - upstreamWaitMs - bodyReadMs) * 1000));
}

/**
 * How a call is settled whose gateway died: by the abort case `interrupted`, the input estimate and no output. The
 * event happens when it is found; its id is the same however often a boot finds it.
 */
export function interruptedEvent(started: CallStarted, clock: Clock): UnplacedSettled {
  const input = started.reservation.input_tokens;
  const usage = { input, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };
  const cost = started.provider_price === undefined ? 0 : priceClass(input, started.provider_price.input_picousd);
  const {
    reservation,
    billed_price: billedPrice,
    provider_price: _price,
    event_id: _id,
    type: _type,
    provider,
    model,
    ...identity
  } = started;
  return {
    ...identity,
    ...(started.decision === undefined ? {} : { decision_id: started.decision.decision_id }),
    event_id: settledEventId(started.request_id),
    type: 'call.settled',
    occurred_at: new Date(clock.now()).toISOString(),
    outcome: 'interrupted',
    error_code: 'internal',
    status: 0,
    abort_case: 'interrupted',
    provider,
    model,
    fallback: false,
    cache: 'off',
    usage,
    usage_source: 'estimate',
    cost_nanousd: cost,
    billed_nanousd: priceClass(input, billedPrice.input_picousd),
    estimate: { input_tokens: reservation.input_tokens, output_tokens: reservation.output_tokens },
    latency: { overhead_us: 0, queue_ms: 0, total_ms: 0 },
    attempts: [],
  };
}
