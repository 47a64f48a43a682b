import type { Dialect, TokenUsage } from '@sluice/contracts';
import { anthropicUsageOf, openaiUsageOf } from '@sluice/providers';

/** A buffer of a stream, cut after its last whole event, and the events that end the stream there correctly. */
export interface CutStream {
  readonly forward: Buffer;
  readonly ending: Buffer;
}

const LF = Buffer.from('\n\n');
const CRLF = Buffer.from('\r\n\r\n');

/**
 * Ends a stream after this buffer as if the provider had reached its output bound: OpenAI's `finish_reason: "length"`
 * and `[DONE]`, Anthropic's `stop_reason: "max_tokens"` and `message_stop`. Undefined where the buffer holds no end of
 * an event that tells what is open; the next one will.
 *
 * @param choices answers that run beside each other (`n`), each of which is ended.
 * @param usage for the counts in the ending; undefined when the caller asked for none (OpenAI).
 */
export function cutStream(
  dialect: Dialect,
  chunk: Buffer,
  choices: number,
  usage: TokenUsage | undefined,
): CutStream | undefined {
  const end = lastEventEnd(chunk);
  if (end === 0) return undefined;
  const forward = chunk.subarray(0, end);
  const ending =
    dialect === 'anthropic'
      ? anthropicEnding(forward.toString('utf8'), usage)
      : openaiEnding(forward.toString('utf8'), choices, usage);
  return ending === undefined ? undefined : { forward, ending: Buffer.from(ending) };
}

/** Where the last whole event ends, or 0. */
function lastEventEnd(chunk: Buffer): number {
  const lf = chunk.lastIndexOf(LF);
  const crlf = chunk.lastIndexOf(CRLF);
  return Math.max(lf < 0 ? 0 : lf + LF.length, crlf < 0 ? 0 : crlf + CRLF.length);
}

/** The data of the buffer's events that are whole JSON objects, in order. */
function dataOf(text: string): Record<string, unknown>[] {
  return text.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith('data:')) return [];
    try {
      const value: unknown = JSON.parse(line.slice(5));
      return typeof value === 'object' && value !== null ? [value as Record<string, unknown>] : [];
    } catch {
      return [];
    }
  });
}

function openaiEnding(text: string, choices: number, usage: TokenUsage | undefined): string | undefined {
  const last = dataOf(text).at(-1);
  if (last === undefined) return undefined;
  const { id, created, model, system_fingerprint } = last;
  const head = {
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    ...(system_fingerprint === undefined ? {} : { system_fingerprint }),
  };
  const stops = Array.from({ length: choices }, (_, index) =>
    event({ ...head, choices: [{ index, delta: {}, logprobs: null, finish_reason: 'length' }] }),
  );
  const counts = usage === undefined ? '' : event({ ...head, choices: [], usage: openaiUsageOf(usage) });
  return `${stops.join('')}${counts}data: [DONE]\n\n`;
}

/** At most one content block is open at a time; the last event that names a block tells which, or that none is. */
function anthropicEnding(text: string, usage: TokenUsage | undefined): string | undefined {
  const last = dataOf(text).findLast((data) => typeof data.type === 'string' && data.type.startsWith('content_block_'));
  if (last === undefined) return undefined;
  const open = last.type === 'content_block_stop' ? '' : named('content_block_stop', { index: last.index });
  const delta = named('message_delta', {
    delta: { stop_reason: 'max_tokens', stop_sequence: null },
    usage: usage === undefined ? { output_tokens: 0 } : anthropicUsageOf(usage),
  });
  return `${open}${delta}${named('message_stop', {})}`;
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const named = (type: string, data: object): string => `event: ${type}\n${event({ type, ...data })}`;
