import type { AttemptPlan, Clock, PlannedAttempt, Refusal } from '@sluice/contracts';
import { nextDelay, type RetryBudget } from '@sluice/resilience';
import type { Call } from '../../call.ts';
import type { Stage } from '../../stage.ts';
import { cancelRefusal } from '../../pipeline.ts';
import { setAnswerHeaders } from '../relay/answer-headers.ts';
import { finalRefusal, nextStep } from './next-step.ts';
import { tryOnce, type TryDeps } from './try-once.ts';

export interface AttemptDeps extends TryDeps {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The retry budget of a provider. */
  readonly retryBudget: (provider: string) => RetryBudget;
}

/** Why the loop went past an entry, as `x-sluice-fallback-reason`. */
type PassReason = 'breaker_open' | 'no_capacity' | 'queue_timeout' | 'rate_limit' | 'timeout' | 'error' | 'context_window';

/**
 * The one loop that owns retries and failover. It ends with an answer whose first content has come, or with a refusal.
 * Each attempt passes breaker, credential and fair queue on its own.
 */
export function createAttemptStage(deps: AttemptDeps): Stage {
  return {
    name: 'attempt',
    async run(call) {
      const plan = call.plan as AttemptPlan;
      startTimers(call, plan);
      let callsMade = 0;
      let last: Refusal | undefined;
      for (const [index, entry] of plan.entries.entries()) {
        const entriesLeft = plan.entries.length - index - 1;
        const step = await tryEntry(call, deps, plan, entry, entriesLeft, callsMade);
        callsMade += step.calls;
        if (step.kind === 'answered') return undefined;
        if (step.kind === 'refused') return step.refusal;
        last = step.refusal;
        call.fallbackReason ??= step.reason;
        if (callsMade >= plan.retries.maxAttempts) break;
      }
      return last;
    },
  };
}

type EntryResult =
  | { readonly kind: 'answered'; readonly calls: number }
  | { readonly kind: 'refused'; readonly calls: number; readonly refusal: Refusal }
  | { readonly kind: 'passed'; readonly calls: number; readonly refusal: Refusal; readonly reason: PassReason };

async function tryEntry(call: Call, deps: AttemptDeps, plan: AttemptPlan, entry: PlannedAttempt, entriesLeft: number, callsBefore: number): Promise<EntryResult> {
  let calls = 0;
  deps.retryBudget(entry.provider.id).recordRequest();
  for (;;) {
    if (call.cancel.reason !== undefined) return { kind: 'refused', calls, refusal: cancelRefusal(call) };
    const result = await tryOnce(call, deps, plan, entry);
    switch (result.kind) {
      case 'answered':
        return { kind: 'answered', calls: calls + 1 };
      case 'cancelled':
        return { kind: 'refused', calls: calls + 1, refusal: cancelRefusal(call) };
      case 'refused':
        return { kind: 'refused', calls, refusal: result.refusal };
      case 'skipped':
        return { kind: 'passed', calls, refusal: result.refusal, reason: result.reason };
      case 'failed':
        calls += 1;
    }
    const { fault } = result;
    const callsLeft = plan.retries.maxAttempts - callsBefore - calls;
    const step = nextStep({ fault, triggerOn: entry.triggerOn, entriesLeft, triesHere: calls, callsLeft });
    const refusal = finalRefusal(fault);
    if (step === 'give_up') {
      passBodyOn(call, result.fault);
      return { kind: 'refused', calls, refusal };
    }
    const moveOn: EntryResult = { kind: 'passed', calls, refusal, reason: reasonOf(fault.kind) };
    if (step === 'next') return moveOn;
    // Coming back before the time that the provider asked for would be refused again.
    if ((fault.retryAfterMs ?? 0) > plan.retries.maxDelayMs) return moveOn;
    const delayMs = deps.retryBudget(entry.provider.id).tryRetry()
      ? nextDelay({
          attempt: calls,
          baseDelayMs: plan.retries.baseDelayMs,
          maxDelayMs: plan.retries.maxDelayMs,
          retryAfterMs: fault.retryAfterMs,
          remainingMs: call.timing.startedAt + plan.deadlines.totalMs - deps.clock.monotonic(),
          random: deps.random,
        })
      : undefined;
    if (delayMs === undefined) return moveOn;
    const sleptAt = deps.clock.monotonic();
    await sleep(call, delayMs);
    call.timing.upstreamWaitMs += deps.clock.monotonic() - sleptAt;
  }
}

function reasonOf(kind: Parameters<typeof finalRefusal>[0]['kind']): PassReason {
  if (kind === 'rate_limited' || kind === 'overloaded') return 'rate_limit';
  if (kind === 'timeout' || kind === 'context_window') return kind;
  return 'error';
}

/** The provider's own words about a fault of the caller's reach the caller unmodified. */
function passBodyOn(call: Call, fault: Parameters<typeof finalRefusal>[0]): void {
  if ((fault.kind !== 'caller' && fault.kind !== 'context_window') || fault.body === undefined || fault.status === undefined) return;
  call.passThrough = { status: fault.status, body: fault.body, contentType: fault.contentType ?? 'application/json' };
}

/** The total deadline, and the moment from which a stream's status is no longer held back for its first content. */
function startTimers(call: Call, plan: AttemptPlan): void {
  const total = setTimeout(() => call.cancel.cancel('total_deadline'), plan.deadlines.totalMs);
  const hold = call.resolved?.inbound.stream === true ? setTimeout(() => commitWithoutContent(call), plan.holdMs) : undefined;
  call.stopTimers = () => {
    clearTimeout(total);
    clearTimeout(hold);
  };
}

function commitWithoutContent(call: Call): void {
  if (call.answer === undefined && !call.response.committed && call.refusal === undefined) {
    setAnswerHeaders(call);
    call.response.commit(200, { stream: true, contentType: 'text/event-stream' });
  }
}

function sleep(call: Call, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    let unsubscribe: () => void = () => undefined;
    function done(): void {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    }
    unsubscribe = call.cancel.onCancel(done);
  });
}
