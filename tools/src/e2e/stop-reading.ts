import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually } from '@sluice/testing';
import { GATEWAY_MEMORY } from '../stack/stack-parts.ts';
import { chat } from './chat.ts';
import { keyOf } from './fixture-snapshot.ts';
import { startGatewayStack } from './gateway-stack.ts';

const READERS = fileURLToPath(new URL('stopped-readers.pl', import.meta.url));
/** So small that a stream is not in the reader's kernel before the gateway has to keep or refuse the rest. */
const RECEIVE_BYTES = 4_096;
const event = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
const framed = (text: string): Buffer => Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n`);
const CHUNK = framed(event('x'.repeat(32_000)));
const END = Buffer.concat([framed('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]);

/**
 * Streams of this size, read at full speed before anything is measured: they make the process as large as work
 * makes it.
 */
const WARM_BYTES = 4 * 1024 * 1024;
const WARM_STREAMS = 40;
/** Nothing was sent between so many looks, half a second apart: then nothing moves any more. */
const STILL_LOOKS = 4;

/** A provider that writes as fast as it is read; `short` or `warm` in the body asks for a shorter stream. */
function startProvider(streamBytes: number): Promise<{
  readonly url: string;
  readonly open: number;
  readonly begun: number;
  readonly sent: number;
  close(): void;
}> {
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
      let left = warm ? WARM_BYTES : streamBytes;
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

const rss = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

export interface StoppedReaders {
  /** Resident memory of the gateway, before and with all readers stopped, bytes. */
  readonly before: number;
  readonly after: number;
  /** Streams that were open at the provider meanwhile. */
  readonly held: number;
  /** What another tenant's stream gave meanwhile. */
  readonly otherTenant: string;
  /** Connections to the provider after the readers had gone. */
  readonly leftOpen: number;
}

/**
 * Readers that have asked and read nothing until `leave`.
 * @throws Error with what the program said when they cannot connect.
 */
async function startReaders(port: number, count: number, request: string): Promise<{ leave(): Promise<void> }> {
  const child = spawn('perl', [READERS, String(port), String(count), String(RECEIVE_BYTES)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const open = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  child.once('error', (error) => (said += error.message));
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${Buffer.byteLength(request)}\n${request}`);
  const leave = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  const failed = await Promise.race([open.then(() => false), ended.then(() => true)]);
  if (failed) throw new Error(`the readers did not come: ${said}`);
  return { leave };
}

/**
 * Opens streams of one tenant that nobody reads, each of `streamBytes`, until nothing moves any more. What the
 * kernel keeps for them lies on the provider's side of the gateway. Linux only.
 */
export async function stopReading(readers: number, streamBytes: number): Promise<StoppedReaders> {
  const provider = await startProvider(streamBytes);
  let stopped: { leave(): Promise<void> } | undefined;
  const stack = await startGatewayStack({
    workspaces: [
      { tenant: 'acme', slug: 'acme-prod', policy: { maxPoolSharePercent: 100 } },
      { tenant: 'globex', slug: 'globex-prod' },
    ],
    slots: 2 * readers,
    env: GATEWAY_MEMORY,
    primaryUrl: provider.url,
  });
  const read = (content: string) =>
    chat(stack.url, { key: keyOf('globex-prod'), stream: true, body: { messages: [{ role: 'user', content }] } });
  const short = () => read('short');
  try {
    for (let i = 0; i < WARM_STREAMS; i += 4)
      await Promise.all([read('warm'), read('warm'), read('warm'), read('warm')]);
    const before = rss(stack.gateway.pid);
    const kept = provider.open;
    const body = JSON.stringify({ model: 'sim-small', stream: true, messages: [{ role: 'user', content: 'long' }] });
    const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keyOf('acme-prod')}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    stopped = await startReaders(Number(new URL(stack.url).port), readers, request);
    let last = 0;
    let looks = 0;
    await eventually(
      () => {
        looks = provider.begun === readers && provider.sent === last ? looks + 1 : 0;
        last = provider.sent;
        if (looks < STILL_LOOKS)
          throw new Error(`${provider.begun} streams have begun, the provider still sends: ${last} bytes`);
      },
      { timeoutMs: 90_000, everyMs: 500 },
    );
    const after = rss(stack.gateway.pid);
    const held = provider.open - kept;
    const { text } = await short();
    await stopped.leave();
    await eventually(
      () => {
        if (provider.open > kept + 1) throw new Error(`${provider.open} connections are open`);
      },
      { timeoutMs: 15_000 },
    ).catch(() => undefined);
    return { before, after, held, otherTenant: text, leftOpen: Math.max(0, provider.open - kept - 1) };
  } finally {
    await stopped?.leave();
    await stack.stop();
    provider.close();
  }
}
