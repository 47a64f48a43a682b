import { parseText } from '../../json-shape.ts';
import { asObject } from '../../token-count.ts';
import { asArray, asText, type Carrier, isUnset, type Json } from '../carrier.ts';
import { RawJson, rawTexts } from '../raw-json.ts';
import { toAnthropicToolId, ToolIds } from '../tool-ids.ts';
import { type Allowed, contentBlocks, isBlank } from './parts.ts';

/** `name` tells people of one role apart; Anthropic has no word for it, and no provider changes its answer by it. */
const MESSAGE = new Set(['role', 'content', 'name', 'cache_control']);
const TOOL_MESSAGE = new Set([...MESSAGE, 'tool_call_id']);
const ARGUMENTS = ['messages', '*', 'tool_calls', '*', 'function', 'arguments'];
const TEXT: Allowed = { media: false, ofAnswer: false };
const ANY: Allowed = { media: true, ofAnswer: false };
const OF_ANSWER: Allowed = { media: false, ofAnswer: true };

interface Turn {
  role: string;
  content: Json[];
}

interface Translated {
  readonly system: unknown;
  readonly messages: readonly Json[];
  /** The conversation holds calls of tools, whose thoughts this dialect cannot bring along. */
  readonly hasToolCalls: boolean;
}

/**
 * Chat messages as Anthropic's. System and developer messages, wherever they stand, become the system prompt in their
 * order (as Anthropic's own compatibility layer does); results of tools that follow each other become one turn. Of what
 * a provider answered only text and calls are said again: whatever else stands in such a message was put there by that
 * provider and means nothing to another.
 *
 * @param bytes the request as it was written.
 */
export function translateMessages(value: unknown, bytes: Buffer, carrier: Carrier): Translated {
  const conversation = new Conversation(bytes, carrier);
  for (const [i, item] of (asArray(value) ?? []).entries()) conversation.add(asObject(item) ?? {}, i);
  return conversation.end();
}

class Conversation {
  readonly #bytes: Buffer;
  readonly #carrier: Carrier;
  readonly #system: Json[] = [];
  readonly #turns: Turn[] = [];
  readonly #ids = new ToolIds();
  /** Results of tools that follow each other. */
  #results: Json[] | undefined;
  #hasToolCalls = false;
  /** The id of the last call of the old kind, which had none. */
  #oldCall = '';
  #arguments: ReadonlyMap<string, string> | undefined;

  constructor(bytes: Buffer, carrier: Carrier) {
    this.#bytes = bytes;
    this.#carrier = carrier;
  }

  add(message: Json, index: number): void {
    const path = `messages[${index}]`;
    if (message.role === 'tool' || message.role === 'function') {
      this.#carrier.onlyKnown(message, TOOL_MESSAGE, path);
      if (this.#results === undefined) this.#turns.push({ role: 'user', content: (this.#results = []) });
      this.#results.push(this.#result(message, path));
      return;
    }
    this.#results = undefined;
    switch (message.role) {
      case 'system':
      case 'developer':
        this.#carrier.onlyKnown(message, MESSAGE, path);
        this.#system.push(...this.#content(message, path, TEXT));
        break;
      case 'user':
        this.#carrier.onlyKnown(message, MESSAGE, path);
        this.#push('user', this.#content(message, path, ANY));
        break;
      case 'assistant':
        this.#push('assistant', this.#answer(message, path, index));
        break;
      default:
        this.#carrier.refuse(`${path}.role`);
    }
  }

  end(): Translated {
    const last = this.#turns.at(-1);
    if (last?.role === 'assistant') trimEnd(last);
    const messages = this.#turns
      .filter(({ content }) => content.length > 0)
      .map(({ role, content }) => ({ role, content: plain(content) }));
    if (messages.length === 0)
      this.#carrier.cannot('messages', 'it needs one with content that is not a system message');
    const system = this.#system.length === 0 ? undefined : plain(this.#system);
    return { system, messages, hasToolCalls: this.#hasToolCalls };
  }

  #push(role: string, content: Json[]): void {
    this.#turns.push({ role, content });
  }

  /** A mark of the message's own is one of its last block. */
  #content(message: Json, path: string, allowed: Allowed): Json[] {
    const blocks = contentBlocks(message.content, `${path}.content`, this.#carrier, allowed);
    const last = blocks.at(-1);
    if (last !== undefined && !isUnset(message.cache_control))
      blocks[blocks.length - 1] = { ...last, cache_control: message.cache_control };
    return blocks;
  }

  #answer(message: Json, path: string, index: number): Json[] {
    const blocks = isUnset(message.content) ? [] : this.#content(message, path, OF_ANSWER);
    const spoken = blocks.length === 0 ? asText(asObject(message.audio)?.transcript) : undefined;
    for (const text of [asText(message.refusal), spoken])
      if (text !== undefined && !isBlank(text)) blocks.push({ type: 'text', text });
    for (const [i, item] of (asArray(message.tool_calls) ?? []).entries()) {
      const call = asObject(item);
      const made = asObject(call?.function);
      const callPath = `${path}.tool_calls[${i}]`;
      if (call === undefined || made === undefined)
        this.#carrier.refuse(`${callPath}.type`, 'only calls of functions can');
      else {
        const written = `${index}.${i}`;
        blocks.push(
          this.#use(toolId(call.id, `${callPath}.id`, this.#carrier), made, `${callPath}.function.arguments`, written),
        );
      }
    }
    const old = asObject(message.function_call);
    if (old !== undefined) {
      this.#oldCall = this.#ids.next(undefined, 'function');
      blocks.push(this.#use(this.#oldCall, old, `${path}.function_call.arguments`, ''));
    }
    return blocks;
  }

  #use(id: string, { name, arguments: given }: Json, path: string, written: string): Json {
    this.#hasToolCalls = true;
    return { type: 'tool_use', id, name, input: this.#input(given, path, written) };
  }

  /** Arguments as they were written: a number loses no digit. */
  #input(value: unknown, path: string, written: string): unknown {
    if (asObject(value) !== undefined) {
      this.#arguments ??= rawTexts(this.#bytes.toString(), ARGUMENTS);
      const text = this.#arguments.get(written);
      return text === undefined ? value : new RawJson(text);
    }
    const text = asText(value) ?? '';
    if (text.trim() === '') return {};
    if (asObject(parseText(text)) !== undefined) return new RawJson(text);
    this.#carrier.refuse(path, 'arguments must be a JSON object there');
    return {};
  }

  #result(message: Json, path: string): Json {
    const id =
      message.role === 'function' ? this.#oldCall : toolId(message.tool_call_id, `${path}.tool_call_id`, this.#carrier);
    const content = isUnset(message.content)
      ? []
      : contentBlocks(message.content, `${path}.content`, this.#carrier, ANY);
    return {
      type: 'tool_result',
      tool_use_id: id,
      ...(content.length === 0 ? {} : { content: typeof message.content === 'string' ? message.content : content }),
      ...(isUnset(message.cache_control) ? {} : { cache_control: message.cache_control }),
    };
  }
}

function toolId(value: unknown, path: string, carrier: Carrier): string {
  const id = asText(value) ?? '';
  if (id === '') carrier.invalid(path, 'must be a string that is not empty');
  return toAnthropicToolId(id);
}

/** One text and nothing else is given as a string. */
function plain(content: readonly Json[]): unknown {
  const [first] = content;
  return content.length === 1 && first?.type === 'text' && first.cache_control === undefined ? first.text : content;
}

/** An answer that is to be continued may not end in white space. */
function trimEnd(turn: Turn): void {
  const last = turn.content.at(-1);
  if (last?.type !== 'text') return;
  turn.content[turn.content.length - 1] = { ...last, text: (last.text as string).trimEnd() };
}
