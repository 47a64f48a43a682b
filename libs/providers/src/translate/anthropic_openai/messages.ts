import { asObject } from '../../token-count.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';
import { rawTexts } from '../raw-json.ts';
import { toOpenaiToolId } from '../tool-ids.ts';
import { blocksOf, partsOf, plain, textContent, textPart } from './blocks.ts';

const MESSAGE = new Set(['role', 'content']);
const TOOL_RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);
const INPUTS = ['messages', '*', 'content', '*', 'input'];
/** OpenAI has no mark for a tool that failed, so its result says so. */
const FAILED = 'Error: ';
/** In place of a result that is no text; what it is follows as the user's. */
const SEE_BELOW = 'The result follows.';

/**
 * Anthropic's turns as chat messages: the results of tools in a turn come first, each as a message of its own; images and
 * documents in them follow as the user's, because OpenAI's tools answer in text. Of what a provider answered only text
 * and uses of tools are said again: thoughts and tools of its own mean nothing to another.
 *
 * @param bytes the request as it was written.
 */
export function translateMessages({ system, messages: value }: Json, bytes: Buffer, carrier: Carrier): readonly Json[] {
  const messages: Json[] = [];
  const prompt = isUnset(system) ? '' : textContent(system, 'system', carrier);
  if (prompt !== '') messages.push({ role: 'system', content: prompt });
  let inputs: ReadonlyMap<string, string> | undefined;
  const inputOf = (key: string): string | undefined => (inputs ??= rawTexts(bytes.toString(), INPUTS)).get(key);
  for (const [i, item] of (asArray(value) ?? []).entries()) {
    const path = `messages[${i}]`;
    const message = asObject(item) ?? {};
    const content = `${path}.content`;
    if (message.role === 'assistant') {
      const said = answer(message.content, content, carrier, (block) => inputOf(`${i}.${block}`));
      if (said !== undefined) messages.push(said);
      continue;
    }
    carrier.onlyKnown(message, MESSAGE, path);
    if (message.role === 'user') messages.push(...userMessages(message.content, content, carrier));
    else if (message.role === 'system')
      messages.push({ role: 'system', content: textContent(message.content, content, carrier) });
    else carrier.refuse(`${path}.role`);
  }
  if (!messages.some(({ role }) => role !== 'system'))
    carrier.cannot('messages', 'it needs one with content that is not a system message');
  return messages;
}

function userMessages(content: unknown, path: string, carrier: Carrier): readonly Json[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: Json[] = [];
  const parts: Json[] = [];
  for (const [i, block] of blocksOf(content, path, carrier).entries()) {
    const blockPath = `${path}[${i}]`;
    if (block.type === 'tool_result') results.push(toolMessage(block, blockPath, carrier, parts));
    else parts.push(...partsOf(block, blockPath, carrier));
  }
  return parts.length === 0 ? results : [...results, { role: 'user', content: parts }];
}

/** @param media where images and documents go. */
function toolMessage(block: Json, path: string, carrier: Carrier, media: Json[]): Json {
  carrier.onlyKnown(block, TOOL_RESULT, path);
  const given = isUnset(block.content) ? [] : blocksOf(block.content, `${path}.content`, carrier);
  const parts = given.flatMap((inner, i) => partsOf(inner, `${path}.content[${i}]`, carrier));
  const texts = parts.filter(({ type }) => type === 'text');
  const others = parts.filter(({ type }) => type !== 'text');
  const id = toOpenaiToolId(asText(block.tool_use_id) ?? '');
  if (others.length > 0) media.push(textPart(`Result of the tool call ${id}:`), ...others);
  const content = texts.length === 0 && others.length > 0 ? SEE_BELOW : plain(texts);
  return { role: 'tool', tool_call_id: id, content: block.is_error === true ? failed(content) : content };
}

function failed(content: string | readonly Json[]): string | readonly Json[] {
  return typeof content === 'string' ? FAILED + content : [textPart(FAILED.trimEnd()), ...content];
}

/** @param inputOf the input of a block as it was written. */
function answer(
  content: unknown,
  path: string,
  carrier: Carrier,
  inputOf: (block: number) => string | undefined,
): Json | undefined {
  if (typeof content === 'string') return { role: 'assistant', content };
  const texts: Json[] = [];
  const calls: Json[] = [];
  for (const [i, block] of blocksOf(content, path, carrier).entries()) {
    if (block.type === 'text') texts.push(textPart(asText(block.text) ?? ''));
    else if (block.type === 'tool_use')
      calls.push({
        id: toOpenaiToolId(asText(block.id) ?? ''),
        type: 'function',
        function: { name: block.name, arguments: inputOf(i) ?? JSON.stringify(block.input ?? {}) },
      });
  }
  if (texts.length === 0 && calls.length === 0) return undefined;
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : plain(texts),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}
