import type { AttemptPlan, Clock, PlannedAttempt, Refusal } from '@sluice/contracts';
import type { Timers } from '@sluice/limits';
import { nextDelay, type RetryBudget } from '@sluice/resilience';
import type { Call } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import { callerTimeoutMs } from '../../http/envelope.ts';
import type { Stage } from '../../stage.ts';
import { cancelRefusal } from '../../pipeline.ts';
import { setAnswerHeaders } from '../../http/answer-headers.ts';
import { finalRefusal, mayMoveOn, nextStep, triggerOf } from '../../upstream/next-step.ts';
import { translateLarge } from './translate-large.ts';
import { demandOf, tryOnce, type TryDeps } from './try-once.ts';

export interface AttemptDeps extends TryDeps {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The retry budget of a provider, for all tenants. */
  readonly retryBudget: (provider: string) => RetryBudget;
  /** The process's own unless given. */
  readonly timers?: Timers;
  /** A call went past an entry of its plan. */
  readonly onPassed?: (provider: string, reason: PassReason) => void;
  /** A call is sent to the same place once more. */
  readonly onRetry?: (provider: string) => void;
}

/** Why the loop went past an entry, as `x-sluice-fallback-reason`. */
export type PassReason =
  'breaker_open' | 'no_capacity' | 'queue_timeout' | 'rate_limit' | 'timeout' | 'error' | 'context_window';

const processTimers: Timers = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/**
 * The one loop that owns retries and failover. It ends with an answer whose first content has come, or with a refusal.
 * Each attempt passes breaker, credential and fair queue on its own.
 */
export function createAttemptStage(deps: AttemptDeps): Stage {
  const timers = deps.timers ?? processTimers;
  return {
    name: 'attempt',
    async run(call) {
      const plan = call.plan as AttemptPlan;
      startTimers(call, plan, timers);
      const { entries } = plan;
      let callsMade = 0;
      let last: Refusal | undefined;
      for (let index = 0; index < entries.length; index += 1) {
        const entry = entries[index] as PlannedAttempt;
        const at: EntryTry = { call, plan, entry, entriesLeft: entries.length - index - 1, callsBefore: callsMade };
        const step = await tryEntry(deps, timers, at);
        callsMade += step.calls;
        if (step.kind === 'answered') return undefined;
        if (step.kind === 'refused') return step.refusal;
        last = step.refusal;
        call.fallbackReason ??= step.reason;
        deps.onPassed?.(entry.provider.id, step.reason);
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

/** One entry of a call's plan, and what the plan leaves for it. */
interface EntryTry {
  readonly call: Call;
  readonly plan: AttemptPlan;
  readonly entry: PlannedAttempt;
  /** Entries of the plan after this one. */
  readonly entriesLeft: number;
  /** Calls that were made at entries before it. */
  readonly callsBefore: number;
}

async function tryEntry(deps: AttemptDeps, timers: Timers, at: EntryTry): Promise<EntryResult> {
  const { call, plan, entry, entriesLeft, callsBefore } = at;
  let calls = 0;
  if (call.resolved?.inbound.large !== undefined) {
    const refusal = await translateLarge(call, deps, entry);
    if (refusal !== undefined) return { kind: 'refused', calls, refusal };
  }
  deps.retryBudget(entry.provider.id).recordRequest(tenantOf(call));
  for (;;) {
    if (call.cancel.reason !== undefined) return { kind: 'refused', calls, refusal: cancelRefusal(call) };
    const tried = tryOnce(call, deps, plan, entry);
    const result = tried instanceof Promise ? await tried : tried;
    switch (result.kind) {
      case 'answered':
        return { kind: 'answered', calls: calls + 1 };
      case 'cancelled':
        return { kind: 'refused', calls: calls + 1, refusal: cancelRefusal(call) };
      case 'refused':
        return { kind: 'refused', calls, refusal: result.refusal };
      case 'skipped':
        if (entriesLeft > 0 && !mayMoveOn(result.triggers, entry.triggerOn))
          return { kind: 'refused', calls, refusal: result.refusal };
        return { kind: 'passed', calls, refusal: result.refusal, reason: result.reason };
      case 'failed':
        calls += 1;
    }
    const { fault } = result;
    const rest =
      fault.kind === 'rate_limited' || fault.kind === 'account'
        ? deps.capacity.restOf(entry, demandOf(call, plan))
        : undefined;
    const otherAccount = rest === undefined && entry.credentials.length > 1;
    const callsLeft = plan.retries.maxAttempts - callsBefore - calls;
    const step = nextStep({
      fault,
      triggerOn: entry.triggerOn,
      entriesLeft,
      triesHere: calls,
      callsLeft,
      otherAccount,
    });
    const refusal = finalRefusal(fault);
    if (step === 'give_up') {
      passBodyOn(call, result.fault);
      return { kind: 'refused', calls, refusal };
    }
    const askedMs = rest?.forMs ?? (fault.kind === 'rate_limited' ? 0 : fault.retryAfterMs);
    const delayMs = step === 'next' ? undefined : retryDelay(deps, at, { calls, askedMs, otherAccount });
    if (delayMs === undefined) {
      const trigger = triggerOf(fault.kind);
      if (step === 'retry' && (trigger === undefined || !entry.triggerOn.includes(trigger)))
        return { kind: 'refused', calls, refusal };
      return { kind: 'passed', calls, refusal, reason: reasonOf(fault.kind) };
    }
    deps.onRetry?.(entry.provider.id);
    const sleptAt = deps.clock.monotonic();
    await sleep(call, deps.clock, timers, delayMs);
    call.timing.upstreamWaitMs += deps.clock.monotonic() - sleptAt;
  }
}

/**
 * How long to wait before the next call to the same place. Undefined when it must not be made: the provider asks
 * for more than the policy waits and would only refuse again, the wait would not end before a deadline, or the
 * retry budget is used up by all or by this tenant's own failures.
 */
function retryDelay(
  deps: AttemptDeps,
  { call, plan, entry }: EntryTry,
  {
    calls,
    askedMs,
    otherAccount,
  }: { readonly calls: number; readonly askedMs: number | undefined; readonly otherAccount: boolean },
): number | undefined {
  const { baseDelayMs, maxDelayMs } = plan.retries;
  if ((askedMs ?? 0) > maxDelayMs) return undefined;
  const remainingMs = deadlineOf(call, plan) - deps.clock.monotonic();
  const delayMs = nextDelay({
    attempt: calls,
    baseDelayMs: otherAccount ? 0 : baseDelayMs,
    maxDelayMs,
    retryAfterMs: askedMs,
    remainingMs,
    random: deps.random,
  });
  return delayMs !== undefined && deps.retryBudget(entry.provider.id).tryRetry(tenantOf(call)) ? delayMs : undefined;
}

function tenantOf(call: Call): string {
  return (call.key as CompiledKey).workspace.tenant.id;
}

/** The policy's total deadline or the caller's own, whichever is sooner, on the monotonic clock. */
function deadlineOf(call: Call, plan: AttemptPlan): number {
  const { startedAt, bodyReadMs } = call.timing;
  const callers = callerTimeoutMs(call.request);
  return Math.min(
    startedAt + bodyReadMs + plan.deadlines.totalMs,
    typeof callers === 'number' ? startedAt + callers : Infinity,
  );
}

function reasonOf(kind: Parameters<typeof finalRefusal>[0]['kind']): PassReason {
  if (kind === 'rate_limited' || kind === 'overloaded') return 'rate_limit';
  if (kind === 'timeout' || kind === 'context_window') return kind;
  return 'error';
}

/** The provider's own words about a fault of the caller's reach the caller unmodified. */
function passBodyOn(call: Call, fault: Parameters<typeof finalRefusal>[0]): void {
  if (
    (fault.kind !== 'caller' && fault.kind !== 'context_window' && fault.kind !== 'model_unknown') ||
    fault.body === undefined ||
    fault.status === undefined
  )
    return;
  call.passThrough = { status: fault.status, body: fault.body, contentType: fault.contentType ?? 'application/json' };
}

/** The total deadline, and the moment from which a stream's status is no longer held back for its first content. */
function startTimers(call: Call, plan: AttemptPlan, timers: Timers): void {
  const total = timers.setTimeout(() => call.cancel.cancel('total_deadline'), plan.deadlines.totalMs);
  const hold =
    call.resolved?.inbound.stream === true
      ? timers.setTimeout(() => commitWithoutContent(call), plan.holdMs)
      : undefined;
  call.stopTimers = () => {
    timers.clearTimeout(total);
    if (hold !== undefined) timers.clearTimeout(hold);
  };
}

function commitWithoutContent(call: Call): void {
  if (call.answer === undefined && !call.response.committed && call.refusal === undefined) {
    setAnswerHeaders(call);
    call.response.commit(200, { stream: true, contentType: 'text/event-stream' });
  }
}

/**
 * Waits, or less long when the call is given up. A timer may fire a little early, and the account would still rest
 * then.
 */
function sleep(call: Call, clock: Clock, timers: Timers, ms: number): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  const untilMs = clock.monotonic() + ms;
  return new Promise((resolve) => {
    let timer: unknown;
    let unsubscribe: () => void = () => undefined;
    const done = (): void => {
      timers.clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const wake = (): void => {
      const leftMs = untilMs - clock.monotonic();
      if (leftMs > 0) timer = timers.setTimeout(wake, leftMs);
      else done();
    };
    wake();
    unsubscribe = call.cancel.onCancel(done);
  });
}
