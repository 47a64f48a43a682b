import type { UpstreamFault } from '@sluice/contracts';
import { type AnswerHeaders, faultOf, kindOfStatus, NO_WORDS, parseJson } from '../classify-status.ts';
import { asObject } from '../token-count.ts';

/**
 * What is wrong with the account and not with the call. From the first word on: later ones may quote the caller's
 * own values.
 */
const OF_THE_ACCOUNT =
  /^(your credit balance is too low|you have reached your specified api usage limits|this organization has been disabled)/i;
/** The account may not send a prompt this long: no rest helps, and a rest would stop everybody's. */
const LONG_CONTEXT = /^[^"'`]{0,40} required for long context requests/i;

/**
 * An Anthropic error answer. A prompt that is too long and an account without money have no code of their own, only
 * their words.
 */
export function classifyAnthropic(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const kind = kindOfStatus(status);
  if (kind !== 'caller' && kind !== 'rate_limited') return faultOf(kind, status, headers, body, nowMs);
  const words = asObject(asObject(parseJson(body))?.error)?.message;
  const message = typeof words === 'string' ? words : '';
  if (kind === 'rate_limited')
    return LONG_CONTEXT.test(message)
      ? faultOf('context_window', status, headers, NO_WORDS, nowMs)
      : faultOf(kind, status, headers, body, nowMs);
  if (OF_THE_ACCOUNT.test(message)) return faultOf('account', status, headers, body, nowMs);
  return faultOf(
    /prompt is too long|exceed context limit/i.test(message) ? 'context_window' : 'caller',
    status,
    headers,
    body,
    nowMs,
  );
}
