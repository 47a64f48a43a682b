import { asObject } from '../../token-count.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';

const MESSAGE = new Set(['role', 'content']);
/** `cache_control` is a hint: OpenAI caches prompts by itself. */
const TEXT = new Set(['type', 'text', 'cache_control']);
const IMAGE = new Set(['type', 'source', 'cache_control']);
const TOOL_USE = new Set(['type', 'id', 'name', 'input', 'cache_control', 'caller']);
const TOOL_RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);
/** OpenAI has no mark for a tool that failed, so its result says so. */
const FAILED = 'Error: ';

/** Anthropic's turns as chat messages: the results of tools in a turn come first, each as a message of its own. */
export function translateMessages(system: unknown, value: unknown, carrier: Carrier): readonly Json[] {
  const messages: Json[] = [];
  const prompt = isUnset(system) ? '' : textContent(system, 'system', carrier);
  if (prompt !== '') messages.push({ role: 'system', content: prompt });
  for (const [i, item] of (asArray(value) ?? []).entries()) {
    const path = `messages[${i}]`;
    const message = asObject(item) ?? {};
    carrier.onlyKnown(message, MESSAGE, path);
    const content = `${path}.content`;
    if (message.role === 'user') pushUser(messages, message.content, content, carrier);
    else if (message.role === 'assistant') messages.push(assistantMessage(message.content, content, carrier));
    else if (message.role === 'system')
      messages.push({ role: 'system', content: textContent(message.content, content, carrier) });
    else carrier.refuse(`${path}.role`);
  }
  return messages;
}

function pushUser(messages: Json[], content: unknown, path: string, carrier: Carrier): void {
  if (typeof content === 'string') {
    messages.push({ role: 'user', content });
    return;
  }
  const parts: Json[] = [];
  for (const [i, block] of blocksOf(content, path, carrier).entries()) {
    const blockPath = `${path}[${i}]`;
    switch (block.type) {
      case 'text':
        parts.push(textPart(block, blockPath, carrier));
        break;
      case 'image':
        parts.push(imagePart(block, blockPath, carrier));
        break;
      case 'tool_result':
        messages.push(toolMessage(block, blockPath, carrier));
        break;
      default:
        refuseBlock(block, blockPath, carrier);
    }
  }
  if (parts.length > 0) messages.push({ role: 'user', content: parts });
}

function assistantMessage(content: unknown, path: string, carrier: Carrier): Json {
  if (typeof content === 'string') return { role: 'assistant', content };
  const texts: Json[] = [];
  const calls: Json[] = [];
  for (const [i, block] of blocksOf(content, path, carrier).entries()) {
    const blockPath = `${path}[${i}]`;
    if (block.type === 'text') texts.push(textPart(block, blockPath, carrier));
    else if (block.type === 'tool_use') {
      carrier.onlyKnown(block, TOOL_USE, blockPath);
      calls.push({
        id: block.id,
        type: 'function',
        function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
      });
    } else refuseBlock(block, blockPath, carrier);
  }
  const [first] = texts;
  const text = first === undefined ? null : texts.length === 1 ? first.text : texts;
  return { role: 'assistant', content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

function toolMessage(block: Json, path: string, carrier: Carrier): Json {
  carrier.onlyKnown(block, TOOL_RESULT, path);
  const content = isUnset(block.content) ? '' : textContent(block.content, `${path}.content`, carrier);
  return {
    role: 'tool',
    tool_call_id: block.tool_use_id,
    content: block.is_error === true ? failed(content) : content,
  };
}

function failed(content: string | readonly Json[]): string | readonly Json[] {
  return typeof content === 'string' ? FAILED + content : [{ type: 'text', text: FAILED.trimEnd() }, ...content];
}

/** Text alone: a string, or blocks of text; one block becomes a string. */
function textContent(content: unknown, path: string, carrier: Carrier): string | readonly Json[] {
  if (typeof content === 'string') return content;
  const parts: Json[] = [];
  for (const [i, block] of blocksOf(content, path, carrier).entries()) {
    if (block.type === 'text') parts.push(textPart(block, `${path}[${i}]`, carrier));
    else carrier.refuse(`${path}[${i}].type`, 'only text can stand here');
  }
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 ? (asText(first.text) ?? '') : parts;
}

function blocksOf(content: unknown, path: string, carrier: Carrier): readonly Json[] {
  const blocks = asArray(content);
  if (blocks === undefined) carrier.invalid(path, 'must be a string or an array of content blocks');
  return (blocks ?? []).map((block) => asObject(block) ?? {});
}

function textPart(block: Json, path: string, carrier: Carrier): Json {
  carrier.onlyKnown(block, TEXT, path);
  return { type: 'text', text: asText(block.text) ?? '' };
}

function imagePart(block: Json, path: string, carrier: Carrier): Json {
  carrier.onlyKnown(block, IMAGE, path);
  const source = asObject(block.source);
  if (source?.type === 'base64')
    return {
      type: 'image_url',
      image_url: { url: `data:${asText(source.media_type) ?? ''};base64,${asText(source.data) ?? ''}` },
    };
  if (source?.type === 'url') return { type: 'image_url', image_url: { url: source.url } };
  carrier.refuse(`${path}.source.type`, 'an image is given as base64 or as a URL');
  return {};
}

function refuseBlock(block: Json, path: string, carrier: Carrier): void {
  if (block.type === 'thinking' || block.type === 'redacted_thinking')
    carrier.refuse(path, 'only the provider that signed these thoughts can read them');
  else
    carrier.refuse(
      `${path}.type`,
      typeof block.type === 'string' ? `'${block.type.slice(0, 40)}' has no counterpart` : undefined,
    );
}
