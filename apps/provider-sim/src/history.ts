import { hashOf, isObject, Refusal, textOf, type JsonObject } from './sim-call.ts';

/** What a model that is asked to think says to itself. */
export const THOUGHT = 'First I see which way the water runs.';

/** What the provider signs a thought with; it takes back only what it signed. */
export function signatureOf(thinking: string): string {
  return Buffer.from(`sim:${hashOf(thinking).toString(16)}/+=`).toString('base64');
}

export interface History {
  /** Text of the last message of the user. */
  readonly lastText: string;
  /** The last message gives the results of tools. */
  readonly answersTools: boolean;
}

/**
 * Reads the turns so far, strictly where real providers are strict.
 *
 * @throws Refusal 400 for a result without its call, a call without an id, or a thought that was changed.
 */
export function readHistory(messages: readonly JsonObject[]): History {
  let open = new Set<unknown>();
  let answersTools = false;
  let lastText = '';
  for (const message of messages) {
    const blocks = Array.isArray(message['content']) ? message['content'].filter(isObject) : [];
    const results =
      message['role'] === 'tool'
        ? [message['tool_call_id']]
        : blocks.filter((block) => block['type'] === 'tool_result').map((block) => block['tool_use_id']);
    for (const id of results)
      if (!open.delete(id))
        throw new Refusal(400, `messages: there is no tool call with the id ${JSON.stringify(id)} before its result`);
    answersTools = results.length > 0;
    if (message['role'] === 'user' && !answersTools) lastText = textOf(message['content']);
    if (message['role'] !== 'assistant') continue;
    for (const block of blocks)
      if (block['type'] === 'thinking' && block['signature'] !== signatureOf(String(block['thinking'])))
        throw new Refusal(400, 'messages: Invalid `signature` in `thinking` block');
    const calls = Array.isArray(message['tool_calls'])
      ? message['tool_calls'].filter(isObject)
      : blocks.filter((block) => block['type'] === 'tool_use');
    open = new Set(calls.map((call) => call['id']));
    if (open.has(undefined)) throw new Refusal(400, 'messages: every tool call must have an id');
  }
  return { lastText, answersTools };
}
