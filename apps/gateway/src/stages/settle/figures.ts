import {
  ERROR_CATALOGUE,
  priceUsage,
  unpricedOf,
  zeroUsage,
  type CallAttempt,
  type Outcome,
  type PlannedAttempt,
  type Price,
  type ServedUse,
  type TokenUsage,
} from '@sluice/contracts';
import type { Call, CallFigures, Resolved, Unpriced } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { isOpaque } from '../../bodies/facts-of.ts';
import { expectedInput } from '../../metering/estimated-input.ts';
import { finalUsage, givenUp, seenOf, type SeenAnswer } from '../../metering/final-usage.ts';
import { plausible, type CallBounds } from '../../metering/plausible.ts';
import { withStatedPrice } from '../../metering/pricing.ts';
import { recordedText } from '../../metering/recorded-text.ts';
import type { OpenAnswer } from '../../upstream/open-answer.ts';
import { tierOnly, withAskedTools } from '../../metering/asked-use.ts';
import { OUTCOME_OF_FAULT } from '../../upstream/outcome-of-fault.ts';

const MAX_FINISH_REASON = 100;

/** What is billed and recorded, final from here on; also completes the record of the attempt that answered. */
export function figuresOf(call: Call, onFault: (error: unknown) => void): CallFigures {
  try {
    return exactFigures(call);
  } catch (error) {
    onFault(error);
    return estimatedFigures(call);
  }
}

function exactFigures(call: Call): CallFigures {
  const { answer } = call;
  const outcome = outcomeOf(call);
  if (answer === undefined) return figuresWithoutAnswer(call, outcome);
  const seen: SeenAnswer =
    answer.kind === 'whole'
      ? {
          usage: answer.parsed.usage,
          outputChars: answer.parsed.outputChars,
          countedChars: answer.parsed.outputChars,
          ended: true,
          finished: true,
          givenUp: false,
        }
      : {
          ...seenOf(answer.reader),
          ended: answer.reader.ended,
          finished: answer.reader.finishReason !== undefined,
          givenUp: wasGivenUp(call, answer),
        };
  const attempt = call.attempts[answer.attemptIndex] as CallAttempt;
  if (!seen.ended) {
    const fault = answer.kind === 'stream' ? answer.fault : undefined;
    attempt.outcome =
      fault !== undefined
        ? OUTCOME_OF_FAULT[fault.kind]
        : call.cancel.reason !== undefined || call.stoppedByQuota
          ? 'cancelled'
          : 'truncated';
  }
  const expected = (): number => expectedInput(call);
  const resolved = call.resolved as Resolved;
  const { final, served } = plausible(
    finalUsage(seen, expected),
    withAskedTools(answer.kind === 'whole' ? answer.parsed.served : answer.reader.served, resolved.askedUse),
    boundsOf(call, answer, seen.outputChars),
    expected,
  );
  // Where nothing was generated nothing is billed, but what the provider counted is our cost all the same.
  const owed = final.abortCase === 'no_bytes' && seen.usage !== undefined;
  const usage = owed ? seen.usage : final.usage;
  const { price } = answer.attempt;
  const billedPrice = withStatedPrice(resolved.billedPrice, served, (call.key as CompiledKey).workspace.policy);
  const billedNanoUsd = final.abortCase === 'no_bytes' ? 0 : priceUsage(final.usage, billedPrice, served);
  attempt.usage = usage;
  attempt.usage_source = owed ? 'provider' : final.usageSource;
  if (served !== undefined) attempt.served = served;
  attempt.cost_nanousd = price === undefined ? 0 : priceUsage(usage, price, served);
  return {
    outcome,
    abortCase: final.abortCase,
    usage: final.usage,
    usageSource: final.usageSource,
    costNanoUsd: costOf(call.attempts),
    billedNanoUsd,
    finishReason: call.stoppedByQuota ? 'quota' : finishReasonOf(answer),
    unpriced: served === undefined ? NOTHING : unpricedIn(served, billedPrice, answer.attempt, resolved),
  };
}

const NOTHING: readonly Unpriced[] = [];

function unpricedIn(served: ServedUse, billed: Price, attempt: PlannedAttempt, { candidates }: Resolved): Unpriced[] {
  const offer = `${attempt.provider.id}'s offer of ${attempt.model}`;
  return [
    ...unpricedOf(billed, served).map((what) => ({ what, of: `the plan's price of ${candidates[0].id}` })),
    ...(attempt.price === undefined ? [] : unpricedOf(attempt.price, served).map((what) => ({ what, of: offer }))),
  ];
}

function boundsOf(call: Call, answer: OpenAnswer, outputChars: number): CallBounds {
  const { inbound, bodyBytes, choices } = call.resolved as Resolved;
  return {
    model: call.config.models.get(answer.attempt.model),
    isEmbedding: call.operation === 'embeddings',
    choices,
    bodyBytes,
    outputChars,
    isOpaque: () => call.forgotten?.isOpaque ?? isOpaque(inbound),
  };
}

/** The provider's word; a record with a long one would be larger than the spine takes. */
function finishReasonOf(answer: OpenAnswer): string | undefined {
  const reason = answer.kind === 'whole' ? answer.parsed.finishReason : answer.reader.finishReason;
  return reason === undefined ? undefined : recordedText(reason, MAX_FINISH_REASON);
}

/** A stream was let go for the caller's sake, rather than broken off by its provider or by our own end. */
function wasGivenUp({ cancel, stoppedByQuota }: Call, answer: OpenAnswer): boolean {
  if (answer.kind === 'stream' && answer.fault !== undefined) return false;
  return stoppedByQuota || (cancel.reason !== undefined && cancel.reason !== 'draining');
}

/** Nothing is billed where every attempt failed, and the input where one was given up while it was at work. */
function figuresWithoutAnswer(call: Call, outcome: Outcome): CallFigures {
  const costNanoUsd = costOf(call.attempts);
  if (!call.givenUp) {
    return {
      outcome,
      abortCase: 'no_bytes',
      usage: zeroUsage(),
      usageSource: 'none',
      costNanoUsd,
      billedNanoUsd: 0,
      finishReason: undefined,
      unpriced: NOTHING,
    };
  }
  const final = givenUp(undefined, () => expectedInput(call));
  const { billedPrice, askedUse } = call.resolved as Resolved;
  return {
    outcome,
    ...final,
    costNanoUsd,
    billedNanoUsd: priceUsage(final.usage, billedPrice, tierOnly(askedUse)),
    finishReason: undefined,
    unpriced: NOTHING,
  };
}

/**
 * The figures of a call whose own cannot be computed (a provider's count beyond all sense): what was expected of
 * it.
 */
function estimatedFigures(call: Call): CallFigures {
  const usage: TokenUsage = {
    ...zeroUsage(),
    input: call.reservation?.inputTokens ?? 0,
    output: call.reservation?.outputTokens ?? 0,
  };
  return {
    outcome: outcomeOf(call),
    abortCase: call.refusal === undefined ? 'complete' : 'partial',
    usage,
    usageSource: 'estimate',
    costNanoUsd: costOf(call.attempts),
    billedNanoUsd: call.reservation?.costNanoUsd ?? 0,
    finishReason: undefined,
    unpriced: NOTHING,
  };
}

/** How the call counts. A client that left after it had everything is a success. */
export function outcomeOf(call: Call): Outcome {
  if (call.refusal === undefined) return 'ok';
  if (call.passThrough !== undefined) return 'client_error';
  if (call.refusal.code === 'bad_request' && call.refusal.refusedBy === 'upstream') return 'client_error';
  return ERROR_CATALOGUE[call.refusal.code].outcome;
}

function costOf(attempts: readonly CallAttempt[]): number {
  let total = 0;
  for (const attempt of attempts) total += attempt.cost_nanousd;
  return total;
}
