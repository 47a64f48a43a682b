import type { InboundCall, UpstreamFault, WholeAnswer } from '@sluice/contracts';
import { kindOfError, parseJson } from '../classify-status.ts';
import { asObject, textLength, tokenCount } from '../token-count.ts';
import { anthropicUsage } from './usage.ts';

const NO_USAGE = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };

/** A whole message, or the answer of a count, which generates nothing and is free. */
export function readAnthropicWhole(call: InboundCall, body: Buffer): WholeAnswer | UpstreamFault {
  const answer = asObject(parseJson(body));
  if (answer === undefined) return { kind: 'malformed', status: 200, detail: 'the answer is not a JSON object' };
  if (answer.type === 'error') {
    const error = asObject(answer.error);
    return { kind: kindOfError(error ?? {}), status: 200, detail: `an error in a 200 answer: ${String(error?.type)}` };
  }
  if (call.operation === 'count_tokens') {
    if (tokenCount(answer.input_tokens) === undefined)
      return { kind: 'malformed', status: 200, detail: 'the answer has no input_tokens' };
    return { usage: NO_USAGE, finishReason: undefined, model: undefined, outputChars: 0 };
  }
  if (!Array.isArray(answer.content)) return { kind: 'malformed', status: 200, detail: 'the answer has no content' };
  let outputChars = 0;
  for (const item of answer.content) {
    const block = asObject(item);
    outputChars +=
      textLength(block?.text) +
      textLength(block?.thinking) +
      textLength(block?.name) +
      (block?.input === undefined ? 0 : JSON.stringify(block.input).length);
  }
  return {
    usage: anthropicUsage(answer.usage),
    finishReason: typeof answer.stop_reason === 'string' ? answer.stop_reason : undefined,
    model: typeof answer.model === 'string' ? answer.model : undefined,
    outputChars,
  };
}
