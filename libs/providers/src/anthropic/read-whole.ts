import type { InboundCall, UpstreamFault, WholeAnswer } from '@sluice/contracts';
import { parseJson } from '../classify-status.ts';
import { errorIn, faultOfError } from '../error-words.ts';
import { asObject, textLength, tokenCount } from '../token-count.ts';
import { anthropicServed, anthropicUsage } from './usage.ts';

const NO_USAGE = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };

/** A whole message, or the answer of a count, which generates nothing and is free. */
export function readAnthropicWhole(call: InboundCall, body: Buffer): WholeAnswer | UpstreamFault {
  const value = parseJson(body);
  const error = errorIn(value);
  if (error !== undefined) return anthropicFault(error, 'in a 200 answer');
  const answer = asObject(value);
  if (answer === undefined) return { kind: 'malformed', status: 200, detail: 'the answer is not a JSON object' };
  if (call.operation === 'count_tokens') {
    if (tokenCount(answer.input_tokens) === undefined)
      return { kind: 'malformed', status: 200, detail: 'the answer has no input_tokens' };
    return { usage: NO_USAGE, finishReason: undefined, model: undefined, outputChars: 0 };
  }
  if (!Array.isArray(answer.content)) return { kind: 'malformed', status: 200, detail: 'the answer has no content' };
  let outputChars = 0;
  for (const item of answer.content) {
    outputChars += blockChars(asObject(item));
  }
  return {
    usage: anthropicUsage(answer.usage),
    served: anthropicServed(answer.usage),
    finishReason: typeof answer.stop_reason === 'string' ? answer.stop_reason : undefined,
    model: typeof answer.model === 'string' ? answer.model : undefined,
    outputChars,
  };
}

/** Length of all that a block says, or the beginning of one in a stream. */
export function blockChars(block: Readonly<Record<string, unknown>> | undefined): number {
  const input = asObject(block?.input);
  return (
    textLength(block?.text) +
    textLength(block?.thinking) +
    textLength(block?.name) +
    (input === undefined || Object.keys(input).length === 0 ? 0 : JSON.stringify(input).length)
  );
}

/** The fault of an error inside an answer; what the caller caused has Anthropic's error body. */
export function anthropicFault(error: Readonly<Record<string, unknown>>, where: string): UpstreamFault {
  const fault = faultOfError(error, where);
  if (fault.body === undefined) return fault;
  const body = { type: 'error', error: { type: error.type ?? 'invalid_request_error', message: error.message } };
  return { ...fault, body: Buffer.from(JSON.stringify(body)) };
}
