import { setImmediate as nextTurn } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { createSseParser, type SseEvent } from '@sluice/service-kit';

/** A snapshot of 100,000 workspaces is below this, also where it comes in one line. */
const MAX_EVENT_CHARS = 512 * 1024 * 1024;

const LARGE_CHUNK_BYTES = 16 * 1024;

/** The control plane wants no connection of this gateway; `message` says why and what to do. */
export class StreamRefused extends Error {
  override readonly name = 'StreamRefused';
}

export interface ConfigStreamOptions {
  readonly url: string;
  readonly token: string;
  readonly gatewayId: string;
  readonly cellId: string;
  /** Where limits are counted: one gateway at most may count a cell's in its own memory. */
  readonly limitStore: 'memory' | 'valkey';
  /** 0 asks for a whole snapshot. */
  readonly since: number;
  readonly pingTimeoutMs: number;
  readonly signal: AbortSignal;
  onOpen(): void;
  /** True for a line of an event's data that need not be kept for `onEvent`. */
  takeLine(event: string, line: string): boolean;
  onEvent(event: SseEvent): void;
}

/**
 * Holds one connection to the control plane's stream open; resolves when it ends in whatever way.
 *
 * @throws StreamRefused when this gateway may not serve its cell.
 * @throws when it cannot be opened, breaks, or is silent for longer than `pingTimeoutMs`.
 */
export async function runConfigStream({
  url,
  token,
  gatewayId,
  cellId,
  limitStore,
  since,
  pingTimeoutMs,
  signal,
  onOpen,
  takeLine,
  onEvent,
}: ConfigStreamOptions): Promise<void> {
  const agent = new Agent({ connections: 1, headersTimeout: pingTimeoutMs, bodyTimeout: pingTimeoutMs });
  try {
    const target = `${url}/internal/config/stream?gateway=${encodeURIComponent(gatewayId)}&cell=${encodeURIComponent(cellId)}&store=${limitStore}&since=${since}`;
    const response = await request(target, {
      dispatcher: agent,
      signal,
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    if (response.statusCode === 409) throw new StreamRefused(await reasonOf(response.body));
    if (response.statusCode !== 200) {
      await response.body.dump();
      throw new Error(`the control plane answered the configuration stream with ${response.statusCode}`);
    }
    onOpen();
    const parser = createSseParser(MAX_EVENT_CHARS, takeLine);
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      for (const event of parser.push(chunk)) onEvent(event);
      // Part of a snapshot: the socket may hold thousands of rows, and calls have their turn between them.
      if (chunk.length > LARGE_CHUNK_BYTES) await nextTurn();
    }
  } finally {
    await agent.destroy();
  }
}

async function reasonOf(body: { text(): Promise<string> }): Promise<string> {
  const text = await body.text();
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === 'string') return detail.slice(0, 1_000);
  } catch {
    // Said by something else than the control plane; the text is all there is.
  }
  return `the control plane answered the configuration stream with 409: ${text.slice(0, 200)}`;
}
