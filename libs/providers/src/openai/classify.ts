import type { UpstreamFault } from '@sluice/contracts';
import type { AnswerHeaders } from '../answer-headers.ts';
import { faultOf, kindOfStatus, NO_WORDS, parseJson } from '../classify-status.ts';
import { errorIn, kindOfWords, reachOfWords } from '../error-words.ts';

/**
 * How OpenAI says that one request is larger than all that the account may use in a minute. Other words of the
 * sentence name our organisation.
 */
const LARGER_THAN_THE_LIMIT = /^Request too large for /;

/**
 * An OpenAI error answer. A prompt that is too long is its own kind, because another model may have room for it; so
 * is one that is larger than the account's rate, which no rest helps and which would rest the account for
 * everybody. An account without money answers 400, 403 or 429 and will not be well again by waiting. A name that the
 * provider does not know is the operator's mistake.
 */
export function classifyOpenai(status: number, headers: AnswerHeaders, body: Buffer, nowMs: number): UpstreamFault {
  const byStatus = kindOfStatus(status);
  const error = errorIn(parseJson(body));
  const said = error === undefined ? undefined : kindOfWords(error);
  if (said === 'account') return { ...faultOf('account', status, headers, body, nowMs), ...reachOfWords(error) };
  if (byStatus === 'rate_limited' && typeof error?.message === 'string' && LARGER_THAN_THE_LIMIT.test(error.message))
    return faultOf('context_window', status, headers, NO_WORDS, nowMs);
  if (byStatus !== 'caller') return faultOf(byStatus, status, headers, body, nowMs);
  if (status === 404 && error !== undefined && speaksOfTheModel(error))
    return faultOf('model_unknown', status, headers, body, nowMs);
  return faultOf(said ?? 'caller', status, headers, body, nowMs);
}

/** Nothing but the model is looked up by a chat or an embedding, unless the error names something else. */
function speaksOfTheModel({ param }: Readonly<Record<string, unknown>>): boolean {
  return param === undefined || param === null || param === 'model';
}
