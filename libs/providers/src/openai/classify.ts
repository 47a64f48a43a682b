import type { UpstreamFault } from '@sluice/contracts';
import { type AnswerHeaders, faultOf, kindOfError, kindOfStatus, parseJson } from '../classify-status.ts';
import { asObject } from '../token-count.ts';

/**
 * An OpenAI error answer. A prompt that is too long is its own kind, because another model may have room for it. An account
 * without money answers 429 like a rate limit and will not be well again by waiting.
 */
export function classifyOpenai(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const kind = kindOfStatus(status);
  if (kind !== 'caller' && kind !== 'rate_limited') return faultOf(kind, status, headers, body, nowMs);
  const error = asObject(asObject(parseJson(body))?.error);
  if (kind === 'rate_limited') return faultOf(error !== undefined && kindOfError(error) === 'account' ? 'account' : kind, status, headers, body, nowMs);
  return faultOf(error?.code === 'context_length_exceeded' ? 'context_window' : 'caller', status, headers, body, nowMs);
}
