import { asObject } from '../../token-count.ts';
import { anthropicUsage } from '../../anthropic/usage.ts';
import { asArray, asText, type Json } from '../carrier.ts';
import { finishReasonOf } from './finish-reason.ts';
import { JSON_TOOL } from './tools.ts';
import { openaiUsageOf } from './usage.ts';

/** A whole Anthropic message as a chat completion. What the model thought is not in it, as with OpenAI's own models. */
export function toChatCompletion(answer: Json, createdSeconds: number): Buffer {
  let text = '';
  let isJsonAnswer = false;
  const calls: Json[] = [];
  for (const item of asArray(answer.content) ?? []) {
    const block = asObject(item);
    if (block?.type === 'text') text += asText(block.text) ?? '';
    else if (block?.type === 'tool_use' && block.name === JSON_TOOL) {
      isJsonAnswer = true;
      text += JSON.stringify(block.input ?? {});
    } else if (block?.type === 'tool_use')
      calls.push({
        id: block.id,
        type: 'function',
        function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
      });
  }
  const usage = anthropicUsage(answer.usage);
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
        finish_reason: finishReasonOf(answer.stop_reason, isJsonAnswer),
      },
    ],
    ...(usage === undefined ? {} : { usage: openaiUsageOf(usage) }),
  };
  return Buffer.from(JSON.stringify(completion));
}
