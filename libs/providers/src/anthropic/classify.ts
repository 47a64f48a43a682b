import type { UpstreamFault } from '@sluice/contracts';
import { type AnswerHeaders, faultOf, kindOfStatus, parseJson } from '../classify-status.ts';
import { asObject } from '../token-count.ts';

/** An Anthropic error answer. A prompt that is too long and an account without money have no code of their own, only their words. */
export function classifyAnthropic(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const kind = kindOfStatus(status);
  if (kind !== 'caller') return faultOf(kind, status, headers, body, nowMs);
  const message = asObject(asObject(parseJson(body))?.error)?.message;
  if (typeof message === 'string' && /credit balance is too low/i.test(message)) return faultOf('account', status, headers, body, nowMs);
  const tooLong = typeof message === 'string' && /prompt is too long|exceed context limit/i.test(message);
  return faultOf(tooLong ? 'context_window' : 'caller', status, headers, body, nowMs);
}
