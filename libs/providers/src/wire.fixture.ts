import type { InboundCall, Operation, ProviderAdapter, StreamReader, UpstreamFault } from '@sluice/contracts';
import { createAdapterRegistry } from './registry.ts';

const registry = createAdapterRegistry({ clock: { now: () => 1_700_000_000_000 } });
export const anthropicAdapter = registry.get('anthropic') as ProviderAdapter;
export const openaiAdapter = registry.get('openai') as ProviderAdapter;

export type Events = Readonly<Record<string, unknown>>[];

/** A call with this body. */
export function callOf(operation: Operation, body: object = {}, over: Partial<InboundCall> = {}): InboundCall {
  return {
    operation,
    bytes: Buffer.from(JSON.stringify(body)),
    body: body as Record<string, unknown>,
    stream: true,
    wantsUsage: true,
    forwardHeaders: {},
    ...over,
  };
}

export interface ReadStream {
  readonly text: string;
  readonly reader: StreamReader;
  readonly fault: UpstreamFault | undefined;
  /** The data of every event but `[DONE]`. */
  readonly events: Events;
}

/** A stream read to the end of its connection. */
export function readStream(reader: StreamReader, text: string | Buffer): ReadStream {
  let out = reader.push(Buffer.from(text as string))?.toString() ?? '';
  out += reader.end()?.toString() ?? '';
  return { text: out, reader, fault: reader.fault, events: eventsOf(out) };
}

/** The data of every event but `[DONE]`. */
export function eventsOf(text: string): Events {
  return [...text.matchAll(/^data: ?(.*)$/gm)]
    .map((match) => (match[1] as string).trim())
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Events[number]);
}

/** A chat completion chunk as an event. */
export const chunk = (value: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', ...value })}\n\n`;
export const delta = (value: object, finish: string | null = null): string =>
  chunk({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
export const DONE = 'data: [DONE]\n\n';
export const USAGE = chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } });

/** An event of Anthropic's. */
export const named = (type: string, rest: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
export const START = named('message_start', {
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  },
});
export const textBlock = (text: string, index = 0): string =>
  named('content_block_start', { index, content_block: { type: 'text', text: '' } }) +
  named('content_block_delta', { index, delta: { type: 'text_delta', text } }) +
  named('content_block_stop', { index });
export const finish = (stop_reason: string): string =>
  named('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
export const STOP = named('message_stop');
