import { randomBytes } from 'node:crypto';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Dialect } from '@sluice/contracts';
import { createClientResponse, type ClientResponse } from './client-response.ts';
import { createHeartbeats, type Heartbeats } from './heartbeats.ts';

interface Exchange {
  readonly response: ClientResponse;
  readonly heartbeats: Heartbeats;
  readonly answer: IncomingMessage;
  /** The gateway's end of the connection. */
  readonly socket: Socket;
  text(): Promise<string>;
}

async function stream(dialect: Dialect, run: (exchange: Exchange) => Promise<void>): Promise<void> {
  const heartbeats = createHeartbeats({ heartbeatMs: 10_000, tickMs: 1_000 });
  const arrived = Promise.withResolvers<[IncomingMessage, ServerResponse]>();
  const server = createServer((req, res) => arrived.resolve([req, res]));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answered = new Promise<IncomingMessage>((resolve) =>
    get({ port: (server.address() as AddressInfo).port }, resolve),
  );
  const [req, res] = await arrived.promise;
  const response = createClientResponse(res, req, { dialect, heartbeats });
  response.setHeader('x-sluice-model', 'first');
  response.setHeader('x-sluice-model', 'second');
  response.commit(200, { stream: true, contentType: 'text/event-stream' });
  const answer = await answered;
  let received = '';
  answer.on('data', (chunk: Buffer) => (received += chunk.toString()));
  const text = async (): Promise<string> => {
    await response.finish();
    if (!answer.complete) await new Promise((resolve) => answer.once('end', resolve));
    return received;
  };
  await run({ response, heartbeats, answer, socket: req.socket, text });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(heartbeats.size).toBe(0);
}

const ticks = (heartbeats: Heartbeats, count: number): void => {
  for (let i = 0; i < count; i += 1) heartbeats.tick();
};

it('a stream is never cached or buffered, and a later header replaces an earlier one', () =>
  stream('openai', async ({ answer, text }) => {
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-sluice-model': 'second',
    });
    expect(await text()).toBe('');
  }));

it.each([
  ['openai', ': heartbeat\n\n'],
  ['anthropic', 'event: ping\ndata: {"type": "ping"}\n\n'],
] as const)('a silent %s stream gets its heartbeat after 10 s, not before', (dialect, beat) =>
  stream(dialect, async ({ response, heartbeats, text }) => {
    response.write(Buffer.from('data: 1\n\n'));
    ticks(heartbeats, 10);
    response.write(Buffer.from('data: 2\n\n'));
    ticks(heartbeats, 11);
    expect(await text()).toBe(`data: 1\n\ndata: 2\n\n${beat}`);
  }),
);

it('a heartbeat never lands inside a half-written event, wherever its end was cut', () =>
  stream('openai', async ({ response, heartbeats, text }) => {
    response.write(Buffer.from('data: 1\n'));
    ticks(heartbeats, 30);
    response.write(Buffer.from('\n'));
    ticks(heartbeats, 11);
    expect(await text()).toBe('data: 1\n\n: heartbeat\n\n');
  }));

it('what is written after the end goes nowhere and ending twice is harmless', () =>
  stream('openai', async ({ response, text }) => {
    await response.finish(Buffer.from('data: [DONE]\n\n'));
    expect(response.write(Buffer.from('late'))).toBe(true);
    expect(await text()).toBe('data: [DONE]\n\n');
    expect(response.finished).toBe(true);
  }));

it('a chunk of a stream is on its way in the tick in which it was written, as one write', () =>
  stream('openai', async ({ response, socket, text }) => {
    const before = socket.bytesWritten;
    let writes = 0;
    const write = socket.write.bind(socket);
    socket.write = ((...args: Parameters<typeof write>) => {
      writes += 1;
      return write(...args);
    }) as typeof socket.write;
    response.write(Buffer.from('data: 1\n\n'));
    expect(writes).toBe(1);
    expect(socket.writableLength).toBe(0);
    expect(socket.bytesWritten - before).toBe('9\r\ndata: 1\n\n\r\n'.length);
    expect(await text()).toBe('data: 1\n\n');
  }));

it('a client that is behind is waited for and told once it has caught up', () =>
  stream('openai', async ({ response, answer, text }) => {
    answer.pause();
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let accepted = true;
    while (accepted || response.bufferedBytes < 1_000_000) accepted = response.write(chunk);
    const drained = new Promise<void>((resolve) => response.onDrain(resolve));
    answer.resume();
    await drained;
    expect(response.bufferedBytes).toBe(0);
    await text();
  }));

it('a whole body arrives byte for byte, also where it is no text', async () => {
  const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const server = createServer((req, res) => {
    const response = createClientResponse(res, req, { dialect: 'openai' });
    response.commit(200, { stream: false, contentType: 'application/json', contentLength: body.length });
    void response.finish(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(body);
  expect(answer.headers.get('content-length')).toBe('256');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('of a large body it can be seen how much a client that reads slowly has taken, and it arrives byte for byte', async () => {
  const body = randomBytes(32 * 1024 * 1024 + 7);
  const left = new Set<number>();
  const server = createServer(async (req, res) => {
    await req.resume().toArray();
    const response = createClientResponse(res, req, { dialect: 'openai' });
    response.commit(200, { stream: false, contentType: 'application/json', contentLength: body.length });
    const looking = setInterval(() => left.add(response.bufferedBytes), 1);
    void response.finish(body).then(() => clearInterval(looking));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const got: Buffer[] = [];
    await new Promise<void>((resolve, reject) => {
      get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, (answer) => {
        answer.on('data', (chunk: Buffer) => {
          got.push(chunk);
          answer.pause();
          setTimeout(() => answer.resume(), 1);
        });
        answer.on('end', resolve);
        answer.on('error', reject);
      });
    });
    expect(Buffer.concat(got).equals(body)).toBe(true);
    expect(left.size).toBeGreaterThan(5);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
