import { ERROR_CATALOGUE, priceUsage, zeroUsage, type CallAttempt, type Outcome } from '@sluice/contracts';
import type { Call, CallFigures, Resolved } from '../../call.ts';
import { finalUsage, type SeenAnswer } from '../../metering/final-usage.ts';
import { OUTCOME_OF_FAULT } from '../attempt/try-once.ts';

/** What is billed and recorded, final from here on; also completes the record of the attempt that answered. */
export function figuresOf(call: Call): CallFigures {
  const { answer } = call;
  const outcome = outcomeOf(call);
  if (answer === undefined) {
    return {
      outcome,
      abortCase: 'no_bytes',
      usage: zeroUsage(),
      usageSource: 'none',
      costNanoUsd: costOf(call.attempts),
      billedNanoUsd: 0,
      finishReason: undefined,
    };
  }
  const seen: SeenAnswer =
    answer.kind === 'whole'
      ? { usage: answer.parsed.usage, outputChars: answer.parsed.outputChars, ended: true }
      : { usage: answer.reader.usage, outputChars: answer.reader.outputChars, ended: answer.reader.ended };
  const final = finalUsage(seen, call.reservation?.inputTokens ?? 0);
  const attempt = call.attempts[answer.attemptIndex] as CallAttempt;
  attempt.usage = final.usage;
  attempt.usage_source = final.usageSource;
  attempt.cost_nanousd = answer.attempt.price === undefined ? 0 : priceUsage(final.usage, answer.attempt.price);
  if (!seen.ended) {
    const fault = answer.kind === 'stream' ? answer.reader.fault : undefined;
    attempt.outcome = call.cancel.reason !== undefined ? 'cancelled' : fault === undefined ? 'truncated' : OUTCOME_OF_FAULT[fault.kind];
  }
  return {
    outcome,
    abortCase: final.abortCase,
    usage: final.usage,
    usageSource: final.usageSource,
    costNanoUsd: costOf(call.attempts),
    billedNanoUsd: priceUsage(final.usage, (call.resolved as Resolved).billedPrice),
    finishReason: answer.kind === 'whole' ? answer.parsed.finishReason : answer.reader.finishReason,
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
