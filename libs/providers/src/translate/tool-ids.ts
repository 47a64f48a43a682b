import { createHash } from 'node:crypto';

/** What Anthropic takes as the id of a tool's use. */
const VALID = /^[a-zA-Z0-9_-]{1,128}$/;
/** Before an id that is written in the letters that Anthropic takes. */
const ENCODED = 'enc-';
/** The longest id of a call that OpenAI takes. */
const MAX_OPENAI_ID = 40;

/**
 * An id of a tool call in the letters that Anthropic takes; {@link toOpenaiToolId} gives the id back.
 *
 * @param id any text, which is not empty.
 */
export function toAnthropicToolId(id: string): string {
  return VALID.test(id) && !id.startsWith(ENCODED) ? id : ENCODED + Buffer.from(id).toString('base64url');
}

/** The id that a provider of the OpenAI dialect gave to a call, or one short enough for it that stands for the same call. */
export function toOpenaiToolId(id: string): string {
  if (id.startsWith(ENCODED)) {
    const decoded = Buffer.from(id.slice(ENCODED.length), 'base64url').toString();
    if (toAnthropicToolId(decoded) === id) return decoded;
  }
  return id.length <= MAX_OPENAI_ID ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

/** Ids of an answer's tool calls: each is there and stands once. */
export class ToolIds {
  readonly #taken = new Set<string>();

  /**
   * @param given what the provider gave, if anything.
   * @param answerId the id of the answer, from which an id is made where none was given.
   */
  next(given: unknown, answerId: string): string {
    const number = this.#taken.size;
    let id = typeof given === 'string' && given !== '' ? given : `call_${answerId}_${number}`;
    if (this.#taken.has(id)) id = `${id}_${number}`;
    this.#taken.add(id);
    return id;
  }
}
