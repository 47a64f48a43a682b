import type { UpstreamFault } from '@sluice/contracts';
import { type AnswerHeaders, faultOf, kindOfStatus, parseJson } from '../classify-status.ts';
import { asObject } from '../token-count.ts';

/** An Anthropic error answer. A prompt that is too long has no code of its own, only its words. */
export function classifyAnthropic(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const kind = kindOfStatus(status);
  if (kind !== 'caller') return faultOf(kind, status, headers, body, nowMs);
  const message = asObject(asObject(parseJson(body))?.error)?.message;
  const tooLong = typeof message === 'string' && /prompt is too long|exceed context limit/i.test(message);
  return faultOf(tooLong ? 'context_window' : 'caller', status, headers, body, nowMs);
}
