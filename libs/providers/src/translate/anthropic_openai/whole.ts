import { parseText } from '../../json-shape.ts';
import { asObject } from '../../token-count.ts';
import { openaiUsage } from '../../openai/usage.ts';
import { asArray, asText, type Json } from '../carrier.ts';
import { stopReasonOf } from './stop-reason.ts';
import { anthropicUsageOf, guessedUsage } from './usage.ts';

/** A whole chat completion as an Anthropic message; undefined when its choice cannot be read. */
export function toMessage(answer: Json, outputChars: number): Buffer | undefined {
  const choice = asObject((asArray(answer.choices) ?? [])[0]);
  const message = asObject(choice?.message);
  if (message === undefined) return undefined;
  const content: Json[] = [];
  const text = asText(message.content) ?? '';
  if (text !== '') content.push({ type: 'text', text });
  const refusal = asText(message.refusal) ?? '';
  if (refusal !== '') content.push({ type: 'text', text: refusal });
  for (const item of asArray(message.tool_calls) ?? []) {
    const call = asObject(item);
    const made = asObject(call?.function);
    if (made === undefined) continue;
    const input = inputOf(made.arguments, choice?.finish_reason === 'length');
    if (input === undefined) return undefined;
    content.push({ type: 'tool_use', id: call?.id, name: made.name, input });
  }
  const usage = openaiUsage(answer.usage);
  return Buffer.from(
    JSON.stringify({
      id: answer.id,
      type: 'message',
      role: 'assistant',
      model: answer.model,
      content,
      stop_reason: refusal !== '' ? 'refusal' : stopReasonOf(choice?.finish_reason),
      stop_sequence: null,
      usage: usage === undefined ? guessedUsage(outputChars) : anthropicUsageOf(usage),
    }),
  );
}

/** Arguments that the token limit cut are no JSON: such an input is empty, as in Anthropic's own answers. */
function inputOf(value: unknown, wasCut: boolean): Json | undefined {
  const text = asText(value) ?? '';
  if (text.trim() === '') return {};
  const parsed = parseText(text);
  return parsed === undefined && wasCut ? {} : asObject(parsed);
}
