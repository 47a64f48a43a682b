import { readFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '@sluice/testing';
import { chat } from './chat.ts';
import { keyOf } from './fixture-snapshot.ts';
import { startGatewayStack, type GatewayStack } from './gateway-stack.ts';

const READERS = 1_000;
const MB = 1024 * 1024;
/** More than the kernel keeps for a connection, so that the gateway has to keep or refuse the rest. */
const STREAM_BYTES = 12 * MB;
const event = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
const framed = (text: string): Buffer => Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n`);
const CHUNK = framed(event('x'.repeat(32_000)));

/** A provider that writes as fast as it is read; `short` in the body asks for a short stream. */
function startProvider(): Promise<{ readonly url: string; readonly open: number; readonly sent: number; close(): void }> {
  const sockets = new Set<Socket>();
  let sent = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (request: Buffer) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
      if (request.includes('short')) {
        socket.write(Buffer.concat([framed(event('Hi')), framed('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]));
        return;
      }
      let left = STREAM_BYTES;
      const more = (): void => {
        while (left > 0) {
          left -= CHUNK.length;
          sent += CHUNK.length;
          if (!socket.write(CHUNK)) {
            socket.once('drain', more);
            return;
          }
        }
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

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('1,000 readers that stop reading', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let stack: GatewayStack;
  const readers: Socket[] = [];

  beforeAll(async () => {
    provider = await startProvider();
    stack = await startGatewayStack({
      workspaces: [
        { tenant: 'acme', slug: 'acme-prod', policy: { maxPoolSharePercent: 100 } },
        { tenant: 'globex', slug: 'globex-prod' },
      ],
      slots: 2 * READERS,
      primaryUrl: provider.url,
    });
    for (let i = 0; i < 20; i += 1) await chat(stack.url, { key: keyOf('globex-prod'), stream: true, body: { messages: [{ role: 'user', content: 'short' }] } });
  }, 30_000);
  afterAll(async () => {
    for (const reader of readers) reader.destroy();
    await stack.stop();
    provider.close();
  });

  it('leave the memory of the gateway flat, disturb no other tenant, and free their providers when they go', async () => {
    const { pid } = stack.gateway;
    const before = rss(pid);
    const { port } = new URL(stack.url);
    const body = JSON.stringify({ model: 'sim-small', stream: true, messages: [{ role: 'user', content: 'long' }] });
    const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keyOf('acme-prod')}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    for (let i = 0; i < READERS; i += 1) {
      const reader = connect(Number(port), '127.0.0.1');
      reader.on('error', () => undefined);
      reader.pause();
      reader.write(request);
      readers.push(reader);
      if (i % 50 === 49) await eventually(() => expect(provider.open).toBeGreaterThan(i), { timeoutMs: 20_000 });
    }
    await eventually(() => expect(provider.open).toBeGreaterThanOrEqual(READERS), { timeoutMs: 20_000 });
    let last = -1;
    await eventually(
      () => {
        const still = provider.sent === last;
        last = provider.sent;
        expect(still).toBe(true);
      },
      { timeoutMs: 30_000, everyMs: 500 },
    );
    const growth = rss(pid) - before;
    console.log(`growth ${Math.round(growth / MB)} MB, sent ${Math.round(last / MB)} MB`);
    expect(last).toBeLessThan(READERS * STREAM_BYTES);
    expect(growth).toBeLessThan(150 * MB);
    const other = await chat(stack.url, { key: keyOf('globex-prod'), stream: true, body: { messages: [{ role: 'user', content: 'short' }] } });
    expect(other.text).toContain('[DONE]');
    for (const reader of readers.splice(0)) reader.destroy();
    await eventually(() => expect(provider.open).toBeLessThan(50), { timeoutMs: 20_000 });
  }, 90_000);
});
