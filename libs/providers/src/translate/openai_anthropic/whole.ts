import type { TokenUsage } from '@sluice/contracts';
import { parseText } from '../../json-shape.ts';
import { asObject } from '../../token-count.ts';
import { asArray, asText, type Json } from '../carrier.ts';
import { rawTexts } from '../raw-json.ts';
import { ToolIds } from '../tool-ids.ts';
import { finishReasonOf } from './finish-reason.ts';
import { JSON_TOOL } from './tools.ts';
import { openaiUsageOf } from './usage.ts';

const INPUTS = ['content', '*', 'input'];

/**
 * A whole Anthropic message as a chat completion. What the model thought is not in it, as with OpenAI's own models.
 *
 * @param usage what the provider counted, or the estimate.
 */
export function toChatCompletion(body: Buffer, createdSeconds: number, usage: TokenUsage): Buffer {
  const json = body.toString();
  const answer = asObject(parseText(json)) ?? {};
  const ids = new ToolIds();
  let text = '';
  const calls: Json[] = [];
  let inputs: ReadonlyMap<string, string> | undefined;
  for (const [i, item] of (asArray(answer.content) ?? []).entries()) {
    const block = asObject(item);
    if (block?.type === 'text') text += asText(block.text) ?? '';
    if (block?.type !== 'tool_use') continue;
    const input = (inputs ??= rawTexts(json, INPUTS)).get(`${i}`) ?? '{}';
    if (block.name === JSON_TOOL) text += input;
    else
      calls.push({
        id: ids.next(block.id, asText(answer.id) ?? ''),
        type: 'function',
        function: { name: block.name, arguments: input },
      });
  }
  const completion = {
    id: answer.id,
    object: 'chat.completion',
    created: createdSeconds,
    model: answer.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishReasonOf(answer.stop_reason, calls.length > 0),
      },
    ],
    usage: openaiUsageOf(usage),
  };
  return Buffer.from(JSON.stringify(completion));
}
