import { parseText } from '../../json-shape.ts';
import { asObject } from '../../token-count.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';
import { translateImage } from './image.ts';

const MESSAGE = new Set(['role', 'content']);
const ASSISTANT = new Set(['role', 'content', 'refusal', 'tool_calls']);
const TOOL_MESSAGE = new Set(['role', 'content', 'tool_call_id']);
const TEXT_PART = new Set(['type', 'text']);

interface Translated {
  readonly system: unknown;
  readonly messages: readonly Json[];
}

/**
 * Chat messages as Anthropic's. System and developer messages, wherever they stand, become the system prompt in their
 * order (as Anthropic's own compatibility layer does); results of tools that follow each other become one turn.
 */
export function translateMessages(value: unknown, carrier: Carrier): Translated {
  const system: Json[] = [];
  const messages: { role: string; content: unknown }[] = [];
  let results: Json[] | undefined;
  for (const [i, item] of (asArray(value) ?? []).entries()) {
    const path = `messages[${i}]`;
    const message = asObject(item) ?? {};
    if (message.role === 'tool') {
      if (results === undefined) messages.push({ role: 'user', content: (results = []) });
      results.push(toolResult(message, path, carrier));
      continue;
    }
    results = undefined;
    switch (message.role) {
      case 'system':
      case 'developer':
        carrier.onlyKnown(message, MESSAGE, path);
        system.push(...textBlocks(message.content, `${path}.content`, carrier));
        break;
      case 'user':
        carrier.onlyKnown(message, MESSAGE, path);
        messages.push({ role: 'user', content: userContent(message.content, `${path}.content`, carrier) });
        break;
      case 'assistant':
        carrier.onlyKnown(message, ASSISTANT, path);
        messages.push({ role: 'assistant', content: assistantContent(message, path, carrier) });
        break;
      default:
        carrier.refuse(`${path}.role`);
    }
  }
  if (messages.length === 0) carrier.refuse('messages', 'it needs one that is not a system message');
  const [first] = system;
  return { system: first === undefined ? undefined : system.length === 1 ? first.text : system, messages };
}

function userContent(content: unknown, path: string, carrier: Carrier): unknown {
  if (typeof content === 'string') return content;
  const parts = asArray(content);
  if (parts === undefined) {
    carrier.invalid(path, 'must be a string or an array of parts');
    return '';
  }
  return parts.map((item, i) => {
    const part = asObject(item) ?? {};
    const partPath = `${path}[${i}]`;
    if (part.type === 'text') return textBlock(part, partPath, carrier);
    if (part.type === 'image_url') return translateImage(part, partPath, carrier);
    carrier.refuse(
      `${partPath}.type`,
      typeof part.type === 'string' ? `'${part.type.slice(0, 40)}' has no counterpart` : undefined,
    );
    return {};
  });
}

function assistantContent(message: Json, path: string, carrier: Carrier): unknown {
  const calls = asArray(message.tool_calls);
  if (typeof message.content === 'string' && calls === undefined && isUnset(message.refusal)) return message.content;
  const blocks = isUnset(message.content) ? [] : textBlocks(message.content, `${path}.content`, carrier);
  if (typeof message.refusal === 'string' && message.refusal !== '')
    blocks.push({ type: 'text', text: message.refusal });
  for (const [i, item] of (calls ?? []).entries()) {
    const callPath = `${path}.tool_calls[${i}]`;
    const call = asObject(item);
    const made = asObject(call?.function);
    if (call === undefined || made === undefined) {
      carrier.refuse(`${callPath}.type`, 'only calls of functions can');
      continue;
    }
    blocks.push({
      type: 'tool_use',
      id: call.id,
      name: made.name,
      input: argumentsOf(made.arguments, `${callPath}.function.arguments`, carrier),
    });
  }
  return blocks;
}

function argumentsOf(value: unknown, path: string, carrier: Carrier): unknown {
  const text = asText(value) ?? '';
  if (text.trim() === '') return {};
  const parsed = asObject(parseText(text));
  if (parsed !== undefined) return parsed;
  carrier.refuse(path, 'arguments must be a JSON object there');
  return {};
}

function toolResult(message: Json, path: string, carrier: Carrier): Json {
  carrier.onlyKnown(message, TOOL_MESSAGE, path);
  const content =
    typeof message.content === 'string' ? message.content : textBlocks(message.content, `${path}.content`, carrier);
  return { type: 'tool_result', tool_use_id: message.tool_call_id, content };
}

/** Texts as blocks; empty ones are left out, because Anthropic refuses them. */
function textBlocks(content: unknown, path: string, carrier: Carrier): Json[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  const parts = asArray(content);
  if (parts === undefined) {
    carrier.invalid(path, 'must be a string or an array of parts');
    return [];
  }
  const blocks: Json[] = [];
  for (const [i, item] of parts.entries()) {
    const part = asObject(item) ?? {};
    if (part.type === 'text' || part.type === 'refusal') {
      const block =
        part.type === 'text'
          ? textBlock(part, `${path}[${i}]`, carrier)
          : { type: 'text', text: asText(part.refusal) ?? '' };
      if (block.text !== '') blocks.push(block);
    } else carrier.refuse(`${path}[${i}].type`, 'only text can stand here');
  }
  return blocks;
}

function textBlock(part: Json, path: string, carrier: Carrier): Json {
  carrier.onlyKnown(part, TEXT_PART, path);
  return { type: 'text', text: asText(part.text) ?? '' };
}
