import {
  type AttemptPlan,
  type Clock,
  type EventOrigin,
  HEADER,
  nanoUsdToDecimal,
  type LimitStore,
  type MaybePromise,
  type Refusal,
  totalTokens,
  zeroUsage,
} from '@sluice/contracts';
import type { Call, CallFigures, Resolved } from '../../call.ts';
import type { CompiledKey } from '../../compiled-config.ts';
import type { CallEnd } from '../../report/call-end.ts';
import type { Stage } from '../../stage.ts';
import type { Estimator } from '../../metering/estimator.ts';
import { inBandError, refusalResponse } from '../../http/refusal-response.ts';
import type { LateRecord } from '../../metering/late-records.ts';
import { settledEvent, type UnplacedSettled } from '../../metering/usage-events.ts';
import { setAnswerHeaders } from '../../http/answer-headers.ts';
import { figuresOf, outcomeOf } from './figures.ts';
import { shapeOf } from '../../metering/call-shape.ts';
import { finishOrCut } from './finish-or-cut.ts';
import { tailWithUsage } from './tail.ts';
import { createUnreadAnswers, type UnreadAnswers, type UnreadBounds } from './unread-answers.ts';
import { noteLimit } from '../../upstream/account-verdicts.ts';
import { countsAgainst } from '../../upstream/counts-against.ts';

export interface SettleDeps {
  readonly clock: Clock;
  readonly limits: LimitStore;
  readonly outbox: { appendSettled(event: UnplacedSettled): Promise<EventOrigin | undefined> };
  readonly estimator: Estimator;
  /** Takes what the outbox did not take, and records and counts it when it does. */
  readonly recordLater: (record: LateRecord) => void;
  /** The record at this place is in the quota counters now. */
  readonly onCounted: (origin: EventOrigin) => void;
  /** What clients may leave unread of the end of their answers, and for how long. */
  readonly unread?: Partial<UnreadBounds>;
  /** Step 6: one log line, live counters, metrics. Must not throw. */
  readonly report: (call: Call, end: CallEnd) => void;
}

/** What is certain of a call once its record is on disk, or could not be made. */
interface Ending {
  readonly figures: CallFigures | undefined;
  readonly recorded: EventOrigin | undefined | Error;
  readonly outcome: CallEnd['outcome'];
  readonly status: number;
}

interface StepDeps extends SettleDeps {
  readonly unreadAnswers: UnreadAnswers;
}

/**
 * What follows the record, in the order of the settle contract. A list made once: calls add no functions of their
 * own.
 */
const STEPS: readonly ((call: Call, deps: StepDeps, ending: Ending) => MaybePromise<void>)[] = [
  sendLast,
  release,
  giveVerdict,
  trueUpAccount,
  learn,
  report,
];

/**
 * Ends every call, once, in the order of the settle contract: figures → record on disk → last byte → lease → report. It
 * runs for refusals and faults as well; nothing else releases or bills.
 */
export function createSettleStage(given: SettleDeps): Stage {
  const deps: StepDeps = { ...given, unreadAnswers: createUnreadAnswers(given.unread) };
  return {
    name: 'settle',
    async run(call) {
      call.stopTimers?.();
      call.freeBody?.();
      if (call.answer?.kind === 'stream' && !call.answer.reader.ended) call.answer.abort();
      const faults: unknown[] = [];
      const note = (error: unknown): void => void faults.push(error);
      const figures = call.started ? figuresOf(call, note) : undefined;
      call.figures = figures;
      const recorded = figures === undefined ? undefined : await record(call, deps, figures);
      if (recorded instanceof Error) {
        note(recorded);
        call.refusal = { code: 'metering_full', retryAfterMs: 5_000 };
        call.passThrough = undefined;
        deps.recordLater({ event: withheldEvent(call, deps, figures as CallFigures), scope: call.key?.scope });
      }
      // A key in another workspace's place is answered as one that does not exist, so without its limits.
      if (call.view === undefined && call.key !== undefined && call.refusal?.code !== 'unauthenticated')
        await lookAtLimits(call, call.key, deps.limits).catch(note);
      const outcome = figures === undefined || recorded instanceof Error ? outcomeOf(call) : figures.outcome;
      const status = statusOf(call);
      const ending: Ending = { figures, recorded, outcome, status };
      // Whatever one step meets, the next one is done: a slot that stays taken is worse than a line that is missing.
      for (const step of STEPS) {
        try {
          const done = step(call, deps, ending);
          if (done !== undefined) await done;
        } catch (error) {
          note(error);
        }
      }
      if (faults.length > 0) throw faults[0];
      return undefined;
    },
  };
}

/** A caller that is known learns its limits from every answer, also from one that was refused before admission. */
async function lookAtLimits(call: Call, key: CompiledKey, limits: LimitStore): Promise<void> {
  call.view = await limits.view(key.scope);
}

/**
 * The record's place in the outbox (undefined where calls are served without one, by setting), or why it could not
 * be made; without it the answer's last byte is not sent.
 */
async function record(call: Call, deps: SettleDeps, figures: CallFigures): Promise<EventOrigin | undefined | Error> {
  try {
    const event = settledEvent(call, figures, statusOf(call), call.refusal?.code, deps.clock);
    call.recordedAtMs = Date.parse(event.occurred_at);
    return await deps.outbox.appendSettled(event);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * What is recorded later of a call that could not be recorded at its end, and whose last byte was withheld for
 * that: it was interrupted. A whole answer that was not sent is not billed; of a stream what was sent is. A call that
 * was given up has no last byte to withhold.
 */
function withheldEvent(call: Call, { clock }: SettleDeps, figures: CallFigures): UnplacedSettled {
  const sent = call.response.committed;
  const withheld: CallFigures = {
    ...figures,
    outcome: 'interrupted',
    ...(sent || figures.abortCase === 'given_up'
      ? {}
      : { abortCase: 'no_bytes', usage: zeroUsage(), billedNanoUsd: 0 }),
  };
  return settledEvent(call, withheld, statusOf(call), 'metering_full', clock);
}

/**
 * Everything goes back when nothing was used, or nothing is recorded; else quotas and buckets are trued up. A
 * second release changes nothing.
 */
function release(call: Call, { limits, onCounted }: SettleDeps, { figures, recorded }: Ending): MaybePromise<void> {
  if (recorded instanceof Error) return letGo(call, limits, undefined, undefined);
  const released = letGo(call, limits, figures, recorded);
  if (recorded === undefined) return released;
  if (released instanceof Promise) return released.then(() => onCounted(recorded));
  onCounted(recorded);
}

function letGo(
  call: Call,
  limits: LimitStore,
  figures: CallFigures | undefined,
  origin: EventOrigin | undefined,
): MaybePromise<void> {
  if (call.lease === undefined) return;
  const unused = figures === undefined || (call.answer === undefined && !usedProvider(call));
  const settled = limits.settle(
    call.lease,
    unused
      ? { kind: 'unused', origin }
      : {
          kind: 'used',
          usage: figures.usage,
          costNanoUsd: figures.billedNanoUsd,
          origin,
          atMs: call.recordedAtMs,
        },
  );
  if (settled instanceof Promise) return settled.then(() => undefined);
}

/**
 * A provider answered, if only with an error, or was given up while it was at work: then the request counts as one for
 * the rate, or errors and aborts would be a way around it.
 */
function usedProvider({ attempts, givenUp }: Call): boolean {
  return givenUp || attempts.some((attempt) => attempt.ttfb_ms !== undefined);
}

function statusOf(call: Call): number {
  if (call.response.committed) return 200;
  if (call.passThrough !== undefined) return call.passThrough.status;
  if (call.refusal !== undefined) return refusalResponse(call.refusal, call.dialect, call.id).status;
  return call.answer?.status ?? 500;
}

function sendLast(call: Call, { clock, unreadAnswers }: StepDeps, { figures }: Ending): MaybePromise<void> {
  const { response, answer, refusal } = call;
  if (response.finished) return;
  if (refusal !== undefined) return sendRefusal(call, refusal, unreadAnswers);
  if (answer?.kind === 'whole') {
    setAnswerHeaders(call);
    if (figures !== undefined) {
      response.setHeader(HEADER.costNanoUsd, String(figures.billedNanoUsd));
      response.setHeader(HEADER.costUsd, nanoUsdToDecimal(figures.billedNanoUsd));
    }
    response.commit(answer.status, {
      stream: false,
      contentType: answer.contentType,
      contentLength: answer.body.length,
    });
    return finishOrCut(call, answer.body, unreadAnswers, answer.body.length);
  }
  const wantsEvent = call.request.headers[HEADER.usageEvent] === 'true';
  const tail =
    call.tail !== undefined && wantsEvent && figures !== undefined
      ? tailWithUsage(call, call.tail, figures, clock.monotonic() - call.timing.startedAt)
      : call.tail;
  return finishOrCut(call, tail, unreadAnswers);
}

function sendRefusal(call: Call, refusal: Refusal, unread: UnreadAnswers): MaybePromise<void> {
  const { response } = call;
  if (refusal.code === 'client_closed' || refusal.code === 'slow_reader') {
    response.destroy();
    return;
  }
  if (response.committed) {
    return finishOrCut(call, inBandError(refusal, call.dialect, call.id), unread);
  }
  setAnswerHeaders(call);
  const rendered = refusalResponse(refusal, call.dialect, call.id);
  for (const [name, value] of Object.entries(rendered.headers)) response.setHeader(name, value);
  if (call.passThrough !== undefined && refusal === call.refusal) {
    const { status, body, contentType } = call.passThrough;
    response.commit(status, { stream: false, contentType, contentLength: body.length });
    return finishOrCut(call, body, unread, body.length);
  }
  response.commit(rendered.status, {
    stream: false,
    contentType: 'application/json',
    contentLength: rendered.body.length,
  });
  return finishOrCut(call, rendered.body, unread);
}

/** A stream's verdict is given at its end; what the caller caused counts for nothing. */
function giveVerdict(call: Call): void {
  const { verdict, answer } = call;
  if (verdict === undefined) return;
  call.verdict = undefined;
  const fault = answer?.kind === 'stream' ? answer.fault : undefined;
  // Told within the answer, where it has no status of its own: the next call hears whether it is the rate or the
  // account.
  if (call.account !== undefined && (fault?.kind === 'rate_limited' || fault?.kind === 'account'))
    noteLimit(call.account, fault);
  if (answer?.kind !== 'stream' || answer.reader.ended) verdict.succeed();
  else if (fault !== undefined && countsAgainst(fault, (call.plan as AttemptPlan).deadlines, answer.attempt.provider))
    verdict.fail();
  else verdict.ignore();
}

/** The account's rate is counted by what the answer used; of one without an answer, what was expected stays counted. */
function trueUpAccount(call: Call, _deps: SettleDeps, { figures }: Ending): void {
  if (call.rateUse !== undefined && figures !== undefined && call.answer !== undefined)
    call.rateUse.trueUp(totalTokens(figures.usage));
}

function learn(call: Call, { estimator }: SettleDeps, { figures }: Ending): void {
  // A count of tokens generates nothing: it would teach that answers are empty.
  if (figures?.usageSource !== 'provider' || call.operation === 'count_tokens') return;
  const { answer } = call;
  const outputChars =
    answer === undefined ? 0 : answer.kind === 'whole' ? answer.parsed.outputChars : answer.reader.outputChars;
  estimator.observe(shapeOf(call.key as CompiledKey, call.resolved as Resolved), figures.usage, outputChars);
}

function report(call: Call, deps: SettleDeps, { outcome, status, figures }: Ending): void {
  deps.report(call, { outcome, status, figures, totalMs: deps.clock.monotonic() - call.timing.startedAt });
}
