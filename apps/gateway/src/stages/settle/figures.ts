import {
  ERROR_CATALOGUE,
  priceUsage,
  zeroUsage,
  type CallAttempt,
  type Outcome,
  type TokenUsage,
} from '@sluice/contracts';
import type { Call, CallFigures, Resolved } from '../../call.ts';
import { expectedInput } from '../../metering/estimated-input.ts';
import { finalUsage, givenUp, type SeenAnswer } from '../../metering/final-usage.ts';
import { recordedText } from '../../metering/recorded-text.ts';
import type { OpenAnswer } from '../../upstream/open-answer.ts';
import { OUTCOME_OF_FAULT } from '../attempt/try-once.ts';

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
          ended: true,
          finished: true,
          givenUp: false,
        }
      : {
          usage: answer.reader.usage,
          outputChars: answer.reader.outputChars,
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
  const final = finalUsage(seen, seen.usage === undefined ? expectedInput(call) : 0);
  // Where nothing was generated nothing is billed, but what the provider counted is our cost all the same.
  const owed = final.abortCase === 'no_bytes' && seen.usage !== undefined;
  const usage = owed ? seen.usage : final.usage;
  const cost = answer.attempt.price === undefined ? 0 : priceUsage(usage, answer.attempt.price);
  const billedNanoUsd = priceUsage(final.usage, (call.resolved as Resolved).billedPrice);
  attempt.usage = usage;
  attempt.usage_source = owed ? 'provider' : final.usageSource;
  attempt.cost_nanousd = cost;
  return {
    outcome,
    abortCase: final.abortCase,
    usage: final.usage,
    usageSource: final.usageSource,
    costNanoUsd: costOf(call.attempts),
    billedNanoUsd,
    finishReason: call.stoppedByQuota ? 'quota' : finishReasonOf(answer),
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
    };
  }
  const final = givenUp(undefined, expectedInput(call));
  return {
    outcome,
    ...final,
    costNanoUsd,
    billedNanoUsd: priceUsage(final.usage, (call.resolved as Resolved).billedPrice),
    finishReason: undefined,
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
