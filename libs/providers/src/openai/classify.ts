import type { UpstreamFault } from '@sluice/contracts';
import { type AnswerHeaders, faultOf, kindOfStatus, parseJson } from '../classify-status.ts';
import { asObject } from '../token-count.ts';

/** An OpenAI error answer. A prompt that is too long is its own kind, because another model may have room for it. */
export function classifyOpenai(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const kind = kindOfStatus(status);
  if (kind !== 'caller') return faultOf(kind, status, headers, body, nowMs);
  const error = asObject(asObject(parseJson(body))?.error);
  return faultOf(error?.code === 'context_length_exceeded' ? 'context_window' : 'caller', status, headers, body, nowMs);
}
