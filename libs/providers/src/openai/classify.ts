import type { UpstreamFault } from '@sluice/contracts';
import { type AnswerHeaders, faultOf, kindOfError, kindOfStatus, NO_WORDS, parseJson } from '../classify-status.ts';
import { asObject } from '../token-count.ts';

/**
 * How OpenAI says that one request is larger than all that the account may use in a minute. Other words of the
 * sentence name our organisation.
 */
const LARGER_THAN_THE_LIMIT = /^Request too large for /;

/**
 * An OpenAI error answer. A prompt that is too long is its own kind, because another model may have room for it; so
 * is one that is larger than the account's rate, which no rest helps and which would rest the account for
 * everybody. An account without money answers 429 like a rate limit and will not be well again by waiting.
 */
export function classifyOpenai(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const kind = kindOfStatus(status);
  if (kind !== 'caller' && kind !== 'rate_limited') return faultOf(kind, status, headers, body, nowMs);
  const error = asObject(asObject(parseJson(body))?.error);
  if (kind === 'rate_limited') {
    if (typeof error?.message === 'string' && LARGER_THAN_THE_LIMIT.test(error.message))
      return faultOf('context_window', status, headers, NO_WORDS, nowMs);
    return faultOf(
      error !== undefined && kindOfError(error) === 'account' ? 'account' : kind,
      status,
      headers,
      body,
      nowMs,
    );
  }
  return faultOf(error?.code === 'context_length_exceeded' ? 'context_window' : 'caller', status, headers, body, nowMs);
}
