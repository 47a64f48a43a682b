import type { FaultKind, UpstreamFault } from '@sluice/contracts';
import { parseRetryAfter } from '@sluice/resilience';
import type { AnswerHeaders } from './answer-headers.ts';
import { parseText } from './json-shape.ts';
import { limitReachOf } from './rate-headers.ts';
import { asObject } from './token-count.ts';

/** What a status says, the same for all dialects: whose fault it is and what may be done about it. */
export function kindOfStatus(status: number): FaultKind {
  if (status === 401 || status === 402 || status === 403) return 'account';
  if (status === 408 || status === 409 || status === 425) return 'server';
  if (status === 429) return 'rate_limited';
  if (status === 503 || status === 529) return 'overloaded';
  return status >= 500 ? 'server' : 'caller';
}

/** In place of a body that speaks of our account: the caller reads our own words. */
export const NO_WORDS = Buffer.alloc(0);

/** A fault from a status of 400 or above. The body goes along only where the caller may see it. */
export function faultOf(
  kind: FaultKind,
  status: number,
  headers: AnswerHeaders,
  body: Buffer,
  nowMs: number,
): UpstreamFault {
  const retryAfterMs = parseRetryAfter(headers, nowMs);
  const mayPass = kind === 'caller' || kind === 'context_window' || kind === 'model_unknown';
  return {
    kind,
    status,
    ...(kind === 'rate_limited' ? limitReachOf(headers, errorOf(body), nowMs) : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    // A page of HTML is no answer of this dialect, whatever it says.
    ...(mayPass && asObject(parseJson(body)) !== undefined ? { body, contentType: 'application/json' } : {}),
    detail: `status ${status}`,
  };
}

function errorOf(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  return asObject(asObject(parseJson(body))?.error);
}

/** The body as JSON, or undefined. */
export function parseJson(body: Buffer): unknown {
  return parseText(body.toString('utf8'));
}
