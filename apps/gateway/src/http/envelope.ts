import type { IncomingMessage } from 'node:http';
import { HEADER, type Clock, type Dialect, type Operation, type Refusal } from '@sluice/contracts';
import type { Call } from '../call.ts';
import type { CancelToken } from '../cancel-token.ts';
import type { CompiledConfig } from '../compiled-config.ts';
import type { ClientResponse } from './client-response.ts';

const PRINTABLE = /^[\x21-\x7e]{1,200}$/;
const MAX_TIMEOUT_MS = 3_600_000;

export interface EnvelopeParts {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ClientResponse;
  readonly cancel: CancelToken;
  readonly config: CompiledConfig;
  readonly dialect: Dialect;
  readonly operation: Operation;
  readonly traceparent: string;
  readonly clock: Clock;
}

/** A call at its very beginning, with every field in its place so that all calls have one shape. */
export function createCall({
  id,
  request,
  response,
  cancel,
  config,
  dialect,
  operation,
  traceparent,
  clock,
}: EnvelopeParts): Call {
  return {
    id,
    startedAtMs: clock.now(),
    clientRequestId: clientRequestId(request),
    traceparent,
    dialect,
    operation,
    request,
    response,
    cancel,
    timing: { startedAt: clock.monotonic(), queueMs: 0, upstreamWaitMs: 0, bodyReadMs: 0, firstByteAt: undefined },
    config,
    key: undefined,
    body: undefined,
    json: undefined,
    bodyIndex: undefined,
    weighedBytes: 0,
    largeBody: undefined,
    freeBody: undefined,
    resolved: undefined,
    reservation: undefined,
    lease: undefined,
    view: undefined,
    plan: undefined,
    routed: undefined,
    downgraded: false,
    started: false,
    attempts: [],
    fallbackReason: undefined,
    answer: undefined,
    rateUse: undefined,
    verdict: undefined,
    account: undefined,
    stopTimers: undefined,
    givenUp: false,
    forgotten: undefined,
    tail: undefined,
    stoppedByQuota: false,
    refusal: undefined,
    passThrough: undefined,
    figures: undefined,
    recordedAtMs: undefined,
    cutFor: undefined,
  };
}

/** The caller's own id, kept beside ours when it is short and printable. */
function clientRequestId(request: IncomingMessage): string | undefined {
  const id = request.headers[HEADER.requestId] ?? request.headers[HEADER.clientRequestId];
  return typeof id === 'string' && PRINTABLE.test(id) ? id : undefined;
}

/** The caller's own deadline, milliseconds; undefined when it gave none. */
export function callerTimeoutMs(request: IncomingMessage): number | undefined | Refusal {
  const header = request.headers[HEADER.timeoutMs];
  if (header === undefined) return undefined;
  const timeoutMs = typeof header === 'string' && /^\d{1,7}$/.test(header) ? Number(header) : 0;
  if (timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs;
  return {
    code: 'invalid_value',
    param: HEADER.timeoutMs,
    message: `${HEADER.timeoutMs} must be a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
  };
}
