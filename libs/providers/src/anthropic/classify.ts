import type { UpstreamFault } from '@sluice/contracts';
import type { AnswerHeaders } from '../answer-headers.ts';
import { faultOf, kindOfStatus, NO_WORDS, parseJson } from '../classify-status.ts';
import { errorIn, kindOfWords, reachOfWords } from '../error-words.ts';

/**
 * What is wrong with the account and not with the call. From the first word on: later ones may quote the caller's
 * own values.
 */
const OF_THE_ACCOUNT =
  /^(your credit balance is too low|you have reached your specified api usage limits|this organization has been disabled)/i;
/** A name of a model and nothing else: a file that is not found has other words before its id. */
const UNKNOWN_MODEL = /^model: \S{1,200}$/;
/** The account may not send a prompt this long: no rest helps, and a rest would stop everybody's. */
const LONG_CONTEXT = /^[^"'`]{0,40} required for long context requests/i;

/**
 * An Anthropic error answer. A prompt that is too long and an account without money have no code of their own, only
 * their words.
 */
export function classifyAnthropic(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const byStatus = kindOfStatus(status);
  const error = errorIn(parseJson(body));
  const said = error === undefined ? undefined : kindOfWords(error);
  const message = typeof error?.message === 'string' ? error.message : '';
  if (said === 'account' || (byStatus === 'caller' && OF_THE_ACCOUNT.test(message)))
    return { ...faultOf('account', status, headers, body, nowMs), ...reachOfWords(error) };
  if (byStatus === 'rate_limited' && LONG_CONTEXT.test(message))
    return faultOf('context_window', status, headers, NO_WORDS, nowMs);
  if (byStatus !== 'caller') return faultOf(byStatus, status, headers, body, nowMs);
  if (status === 404 && UNKNOWN_MODEL.test(message)) return faultOf('model_unknown', status, headers, body, nowMs);
  if (/prompt is too long|exceed context limit/i.test(message))
    return faultOf('context_window', status, headers, body, nowMs);
  return faultOf(said ?? 'caller', status, headers, body, nowMs);
}
