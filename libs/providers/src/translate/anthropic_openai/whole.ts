import { parseText } from '../../json-shape.ts';
import { asObject } from '../../token-count.ts';
import { openaiUsage } from '../../openai/usage.ts';
import { asArray, asText, isUnset, type Json } from '../carrier.ts';
import { RawJson, rawTexts, stringifyWithRaw } from '../raw-json.ts';
import { toAnthropicToolId, ToolIds } from '../tool-ids.ts';
import { answerText } from './answer-text.ts';
import { stopReasonOf } from './stop-reason.ts';
import { anthropicUsageOf } from './usage.ts';

const ARGUMENTS = ['choices', '*', 'message', 'tool_calls', '*', 'function', 'arguments'];

/**
 * A whole chat completion as an Anthropic message, or what about its choice cannot be read.
 *
 * @param guess the usage of an answer without one.
 */
export function toMessage(body: Buffer, guess: () => Json): Buffer | string {
  const json = body.toString();
  const answer = asObject(parseText(json)) ?? {};
  const choice = asObject(asArray(answer.choices)?.[0]);
  const message = asObject(choice?.message);
  if (message === undefined) return 'no choice with a message';
  const text = answerText(message.content);
  if (text === undefined) return 'content that is neither text nor parts of text';
  const refusal = asText(message.refusal) ?? '';
  const content: Json[] = [text, refusal].filter((said) => said !== '').map((said) => ({ type: 'text', text: said }));
  const tools = toolBlocks(message, json, asText(answer.id) ?? '', choice?.finish_reason === 'length');
  if (typeof tools === 'string') return tools;
  content.push(...tools);
  const usage = openaiUsage(answer.usage);
  return Buffer.from(
    stringifyWithRaw({
      id: answer.id,
      type: 'message',
      role: 'assistant',
      model: answer.model,
      content,
      stop_reason: stopReasonOf(choice?.finish_reason, tools.length > 0, refusal !== ''),
      stop_sequence: null,
      usage: usage === undefined ? guess() : anthropicUsageOf(usage),
    }),
  );
}

/** Calls as blocks, or why they are none. */
function toolBlocks(message: Json, json: string, answerId: string, wasCut: boolean): Json[] | string {
  const ids = new ToolIds();
  const blocks: Json[] = [];
  const calls = [...(asArray(message.tool_calls) ?? [])];
  const old = asObject(message.function_call);
  if (old !== undefined) calls.push({ function: old });
  let written: ReadonlyMap<string, string> | undefined;
  for (const [i, item] of calls.entries()) {
    const call = asObject(item);
    const made = asObject(call?.function);
    if (call === undefined || made === undefined) continue;
    const name = asText(made.name) ?? '';
    if (name === '') return 'a tool call without a name';
    const given = made.arguments;
    const text = asObject(given) === undefined ? given : (written ??= rawTexts(json, ARGUMENTS)).get(`0.${i}`);
    const input = inputOf(text, wasCut);
    if (input === undefined) return 'arguments of a tool call that are not a JSON object';
    blocks.push({ type: 'tool_use', id: toAnthropicToolId(ids.next(call.id, answerId)), name, input });
  }
  return blocks;
}

/** Arguments that the token limit cut are no JSON: such an input is empty, as in Anthropic's own answers. */
function inputOf(value: unknown, wasCut: boolean): Json | RawJson | undefined {
  const text = isUnset(value) ? '' : asText(value);
  if (text === undefined) return undefined;
  if (text.trim() === '') return {};
  const parsed = parseText(text);
  if (asObject(parsed) !== undefined) return new RawJson(text);
  return parsed === undefined && wasCut ? {} : undefined;
}
