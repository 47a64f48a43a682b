import { createSseParser, type SseEvent } from '@sluice/service-kit';
import { Agent, request } from 'undici';

/** 256 models of 512 features are below this; what is longer is no snapshot. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export interface SnapshotStreamOptions {
  readonly url: string;
  readonly token: string;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  onOpen(): void;
  onEvent(event: SseEvent): void;
}

/**
 * Holds one connection to the router's snapshots open; resolves when it ends.
 *
 * @throws when it cannot be opened, breaks, is silent for longer than `silenceMs`, or sends what is no event stream.
 */
export async function followSnapshots({
  url,
  token,
  silenceMs,
  signal,
  onOpen,
  onEvent,
}: SnapshotStreamOptions): Promise<void> {
  const agent = new Agent({ connections: 1, headersTimeout: silenceMs, bodyTimeout: silenceMs });
  try {
    const response = await request(`${url}/internal/snapshots`, {
      dispatcher: agent,
      signal,
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    const type = String(response.headers['content-type'] ?? '');
    if (response.statusCode !== 200 || !type.startsWith('text/event-stream')) {
      await response.body.dump();
      throw new Error(`the router answered its snapshots with ${response.statusCode} ${type.slice(0, 100)}`);
    }
    onOpen();
    const parser = createSseParser(MAX_EVENT_CHARS);
    for await (const chunk of response.body as AsyncIterable<Buffer>)
      for (const event of parser.push(chunk)) onEvent(event);
  } finally {
    await agent.destroy();
  }
}
