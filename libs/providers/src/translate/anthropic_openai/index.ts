import {
  type ExpectedInput,
  type InboundCall,
  isFault,
  type Refusal,
  type StreamReader,
  type UpstreamFault,
  type UpstreamRequest,
  type UpstreamTarget,
  type WholeAnswer,
  type WrittenBody,
} from '@sluice/contracts';
import { endpoint, upstreamHeaders } from '../../upstream-headers.ts';
import { readOpenaiWhole } from '../../openai/read-whole.ts';
import { createTranslationCache, isNotCarried, judgedOf, translatedOf } from '../translation-cache.ts';
import { anthropicFaultOf } from './error.ts';
import { toChatRequest } from './request.ts';
import { createMessageEventReader } from './stream.ts';
import { guessedUsage } from './usage.ts';
import { toMessage } from './whole.ts';

const unknownInput: ExpectedInput = () => 0;

const translate = createTranslationCache(toChatRequest);

/** What of a message request cannot be said to OpenAI; undefined when all of it can. */
export function judgeForOpenai(call: InboundCall, carryFields: readonly string[]): Refusal | undefined {
  if (call.large !== undefined) return judgedOf(call, 'openai', carryFields);
  const translated = translate(call, carryFields);
  return isNotCarried(translated) ? translated : undefined;
}

/** A message request as a chat completion request. The caller's beta headers are of its own dialect and stay behind. */
export function buildChatRequest(call: InboundCall, target: UpstreamTarget): UpstreamRequest | Refusal {
  const written = translatedOf(call) ?? chatBody(call, target);
  if (isNotCarried(written)) return written;
  const auth = target.secret === undefined ? [] : ['authorization', `Bearer ${target.secret}`];
  const headers = upstreamHeaders({ ...call, forwardHeaders: {} }, target, auth);
  return { method: 'POST', ...endpoint(target.baseUrl, '/chat/completions'), headers, ...written };
}

function chatBody(call: InboundCall, target: UpstreamTarget): WrittenBody | Refusal {
  const translated = translate(call, target.carryFields);
  if (isNotCarried(translated)) return translated;
  const body = Buffer.from(JSON.stringify({ model: target.providerModel, ...translated.fields }));
  return translated.dropped.length === 0 ? { body } : { body, dropped: translated.dropped };
}

export { anthropicFaultOf as translateFaultToAnthropic } from './error.ts';

/** A whole chat completion with its translation. */
export function readCompletionForAnthropic(
  body: Buffer,
  expectedInput: ExpectedInput = unknownInput,
): WholeAnswer | UpstreamFault {
  const parsed = readOpenaiWhole(body);
  if (isFault(parsed)) return anthropicFaultOf(parsed);
  const message = toMessage(body, () => guessedUsage(expectedInput(), parsed.outputChars));
  return typeof message === 'string'
    ? { kind: 'malformed', status: 200, detail: message }
    : { ...parsed, body: message };
}

/** Chat completion chunks as message events. */
export function createAnthropicReaderOfOpenai(expectedInput: ExpectedInput = unknownInput): StreamReader {
  return createMessageEventReader(expectedInput);
}
