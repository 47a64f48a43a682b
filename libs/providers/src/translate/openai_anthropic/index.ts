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
import { readAnthropicWhole } from '../../anthropic/read-whole.ts';
import { stringifyWithRaw } from '../raw-json.ts';
import { createTranslationCache, isNotCarried, judgedOf, translatedOf } from '../translation-cache.ts';
import { openaiFaultOf } from './error.ts';
import { MIN_THINKING_TOKENS, toAnthropicRequest } from './request.ts';
import { createChatChunkReader } from './stream.ts';
import { guessedUsage } from './usage.ts';
import { toChatCompletion } from './whole.ts';

const unknownInput: ExpectedInput = () => 0;
const VERSION = '2023-06-01';
/** Sent for a model whose bound is not in the catalogue; Anthropic takes no request without one. */
const DEFAULT_MAX_TOKENS = 4_096;

const translate = createTranslationCache(toAnthropicRequest);

/** What of a chat completion cannot be said to Anthropic; undefined when all of it can. */
export function judgeForAnthropic(call: InboundCall, carryFields: readonly string[]): Refusal | undefined {
  if (call.large !== undefined) return judgedOf(call, 'anthropic', carryFields);
  const translated = translate(call, carryFields);
  return isNotCarried(translated) ? translated : undefined;
}

/** A chat completion request as a message request. The caller's beta headers are of its own dialect and stay behind. */
export function buildMessageRequest(call: InboundCall, target: UpstreamTarget): UpstreamRequest | Refusal {
  const written = translatedOf(call) ?? messageBody(call, target);
  if (isNotCarried(written)) return written;
  const auth = target.secret === undefined ? [] : ['x-api-key', target.secret];
  if (target.extraHeaders['anthropic-version'] === undefined) auth.push('anthropic-version', VERSION);
  const headers = upstreamHeaders({ ...call, forwardHeaders: {} }, target, auth);
  return { method: 'POST', ...endpoint(target.baseUrl, '/v1/messages'), headers, ...written };
}

function messageBody(call: InboundCall, target: UpstreamTarget): WrittenBody | Refusal {
  const translated = translate(call, target.carryFields);
  if (isNotCarried(translated)) return translated;
  const maxTokens = translated.maxTokens ?? target.maxOutputTokens ?? DEFAULT_MAX_TOKENS;
  const body: Record<string, unknown> = { model: target.providerModel, max_tokens: maxTokens, ...translated.fields };
  if (translated.thinkingTokens !== undefined) {
    // Thinking counts into the bound, and must leave room for the answer.
    body.thinking = {
      type: 'enabled',
      budget_tokens: Math.max(MIN_THINKING_TOKENS, Math.min(translated.thinkingTokens, Math.floor(maxTokens / 2))),
    };
  }
  const written = Buffer.from(stringifyWithRaw(body));
  return translated.dropped.length === 0 ? { body: written } : { body: written, dropped: translated.dropped };
}

export { openaiFaultOf as translateFaultToOpenai } from './error.ts';

/** A whole message with its translation. */
export function readMessageForOpenai(
  call: InboundCall,
  body: Buffer,
  nowMs: number,
  expectedInput: ExpectedInput = unknownInput,
): WholeAnswer | UpstreamFault {
  const parsed = readAnthropicWhole({ ...call, operation: 'messages' }, body);
  if (isFault(parsed)) return openaiFaultOf(parsed);
  const usage = parsed.usage ?? guessedUsage(expectedInput(), parsed.outputChars);
  return { ...parsed, body: toChatCompletion(body, Math.floor(nowMs / 1000), usage) };
}

/** Message events as chat completion chunks. */
export function createOpenaiReaderOfAnthropic(
  call: InboundCall,
  nowMs: () => number,
  expectedInput: ExpectedInput = unknownInput,
): StreamReader {
  return createChatChunkReader(call, nowMs, expectedInput);
}
