import { Agent, request } from 'undici';
import { createSseParser, type SseEvent } from './sse-parser.ts';

/** A snapshot of 100,000 workspaces is below this. */
const MAX_EVENT_CHARS = 512 * 1024 * 1024;

export interface ConfigStreamOptions {
  readonly url: string;
  readonly token: string;
  readonly gatewayId: string;
  /** 0 asks for a whole snapshot. */
  readonly since: number;
  readonly pingTimeoutMs: number;
  readonly signal: AbortSignal;
  onOpen(): void;
  onEvent(event: SseEvent): void;
}

/**
 * Holds one connection to the control plane's stream open; resolves when it ends in whatever way.
 *
 * @throws when it cannot be opened, breaks, or is silent for longer than `pingTimeoutMs`.
 */
export async function runConfigStream({ url, token, gatewayId, since, pingTimeoutMs, signal, onOpen, onEvent }: ConfigStreamOptions): Promise<void> {
  const agent = new Agent({ connections: 1, headersTimeout: pingTimeoutMs, bodyTimeout: pingTimeoutMs });
  try {
    const target = `${url}/internal/config/stream?gateway=${encodeURIComponent(gatewayId)}&since=${since}`;
    const response = await request(target, {
      dispatcher: agent,
      signal,
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    if (response.statusCode !== 200) {
      await response.body.dump();
      throw new Error(`the control plane answered the configuration stream with ${response.statusCode}`);
    }
    onOpen();
    const parser = createSseParser(MAX_EVENT_CHARS);
    for await (const chunk of response.body as AsyncIterable<Buffer>) for (const event of parser.push(chunk)) onEvent(event);
  } finally {
    await agent.destroy();
  }
}
