import { readFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '@sluice/testing';
import { chat } from './chat.ts';
import { keyOf } from './fixture-snapshot.ts';
import { startGatewayStack } from './gateway-stack.ts';

/** More than the kernel keeps for a connection, so that the gateway has to keep or refuse the rest. */
const STREAM_BYTES = 32 * 1024 * 1024;
const event = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
const framed = (text: string): Buffer => Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n`);
const CHUNK = framed(event('x'.repeat(32_000)));
const END = Buffer.concat([framed('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]);

/** Streams of this size, read at full speed before anything is measured: they make the process as large as work makes it. */
const WARM_BYTES = 4 * 1024 * 1024;
const WARM_STREAMS = 40;
/** Nothing was sent between so many looks, half a second apart: then nothing moves any more. */
const STILL_LOOKS = 4;

/** A provider that writes as fast as it is read; `short` or `warm` in the body asks for a shorter stream. */
function startProvider(): Promise<{ readonly url: string; readonly open: number; readonly begun: number; readonly sent: number; close(): void }> {
  const sockets = new Set<Socket>();
  let sent = 0;
  let begun = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (request: Buffer) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
      if (request.includes('short')) {
        socket.write(Buffer.concat([framed(event('Hi')), END]));
        return;
      }
      const warm = request.includes('warm');
      if (!warm) begun += 1;
      let left = warm ? WARM_BYTES : STREAM_BYTES;
      const more = (): void => {
        while (left > 0) {
          left -= CHUNK.length;
          if (!warm) sent += CHUNK.length;
          if (!socket.write(CHUNK)) {
            socket.once('drain', more);
            return;
          }
        }
        if (warm) socket.write(END);
      };
      more();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
        get open() {
          return sockets.size;
        },
        get begun() {
          return begun;
        },
        get sent() {
          return sent;
        },
        close() {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      }),
    );
  });
}

const rss = (pid: number): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

export interface StoppedReaders {
  /** Resident memory of the gateway, before and with all readers stopped, bytes. */
  readonly before: number;
  readonly after: number;
  /** What the provider could send, and what it had to send. */
  readonly sentBytes: number;
  readonly offeredBytes: number;
  /** What another tenant's stream gave meanwhile. */
  readonly otherTenant: string;
  /** Connections to the provider after the readers had gone. */
  readonly leftOpen: number;
}

/**
 * Opens streams of one tenant that nobody reads, until nothing moves any more. The kernel keeps about 8 MB for each of
 * them, on both sides of the gateway. Linux only.
 */
export async function stopReading(readers: number): Promise<StoppedReaders> {
  const provider = await startProvider();
  const sockets: Socket[] = [];
  const stack = await startGatewayStack({
    workspaces: [
      { tenant: 'acme', slug: 'acme-prod', policy: { maxPoolSharePercent: 100 } },
      { tenant: 'globex', slug: 'globex-prod' },
    ],
    slots: 2 * readers,
    primaryUrl: provider.url,
  });
  const read = (content: string) => chat(stack.url, { key: keyOf('globex-prod'), stream: true, body: { messages: [{ role: 'user', content }] } });
  const short = () => read('short');
  try {
    for (let i = 0; i < WARM_STREAMS; i += 4) await Promise.all([read('warm'), read('warm'), read('warm'), read('warm')]);
    const before = rss(stack.gateway.pid);
    const kept = provider.open;
    const body = JSON.stringify({ model: 'sim-small', stream: true, messages: [{ role: 'user', content: 'long' }] });
    const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keyOf('acme-prod')}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    for (let i = 0; i < readers; i += 1) {
      const socket = connect(Number(new URL(stack.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(request);
      sockets.push(socket);
    }
    let last = 0;
    let looks = 0;
    await eventually(
      () => {
        looks = provider.begun === readers && provider.sent === last ? looks + 1 : 0;
        last = provider.sent;
        if (looks < STILL_LOOKS) throw new Error(`${provider.begun} streams have begun, the provider still sends: ${last} bytes`);
      },
      { timeoutMs: 45_000, everyMs: 500 },
    );
    const after = rss(stack.gateway.pid);
    const { text } = await short();
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually(() => {
      if (provider.open > kept + 1) throw new Error(`${provider.open} connections are open`);
    }, { timeoutMs: 15_000 }).catch(() => undefined);
    return { before, after, sentBytes: last, offeredBytes: readers * STREAM_BYTES, otherTenant: text, leftOpen: Math.max(0, provider.open - kept - 1) };
  } finally {
    for (const socket of sockets) socket.destroy();
    await stack.stop();
    provider.close();
  }
}
