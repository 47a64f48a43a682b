import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import type { UpstreamFault } from '@sluice/contracts';
import { createFakeClock, type FakeClock, type FakeTimer } from '@sluice/testing';
import { createTransport, type Transport, type TransportHandlers, type TransportTimeouts } from './transport.ts';

let transport: Transport;
const servers: { close(): unknown }[] = [];

beforeEach(() => {
  transport = createTransport({ maxHeaderBytes: 16 * 1024 });
});
afterEach(async () => {
  await transport.close();
  for (const server of servers.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  servers.push({ close: () => (server.closeAllConnections(), server.close()) });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveRaw(answer: string): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(
  origin: string,
  timeouts: Partial<TransportTimeouts> = {},
  body = Buffer.from('{"a":1}'),
): Promise<{ status: number; body: string; fault: UpstreamFault | undefined }> {
  return new Promise((resolve) => {
    let status = 0;
    const chunks: Buffer[] = [];
    const done = (fault?: UpstreamFault) => resolve({ status, body: Buffer.concat(chunks).toString(), fault });
    transport.send(
      { method: 'POST', origin, path: '/x', headers: ['content-type', 'application/json'], body },
      {
        onHeaders: (code) => (status = code),
        onData: (chunk) => chunks.push(chunk),
        onEnd: () => done(),
        onError: done,
      },
      { connectMs: 1_000, firstByteMs: 5_000, idleMs: 5_000, ...timeouts },
    );
  });
}

const NOTHING: TransportHandlers = {
  onHeaders: () => undefined,
  onData: () => undefined,
  onEnd: () => undefined,
  onError: () => undefined,
};

function timersOf(clock: FakeClock) {
  return {
    setTimeout: clock.setTimeout,
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer as FakeTimer | undefined),
  };
}

describe('the transport', () => {
  it('sends the bytes and reads status and body', async () => {
    const origin = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => response.writeHead(201).end(`got ${body}`));
    });
    expect(await send(origin)).toEqual({ status: 201, body: 'got {"a":1}', fault: undefined });
  });

  it('sends a large body whole and with its length, time after time on kept connections', async () => {
    const seen: { length: string | undefined; bytes: number; port: number | undefined }[] = [];
    const origin = await serve((request, response) => {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => (bytes += chunk.length));
      request.on('end', () => {
        seen.push({ length: request.headers['content-length'], bytes, port: request.socket.remotePort });
        response.end('ok');
      });
    });
    const body = Buffer.alloc(3_000_000, 'x');
    for (let i = 0; i < 3; i += 1)
      expect(await send(origin, {}, body)).toMatchObject({ status: 200, fault: undefined });
    expect(seen.map(({ length, bytes }) => [length, bytes])).toEqual(
      Array.from({ length: 3 }, () => ['3000000', 3_000_000]),
    );
    expect(new Set(seen.map(({ port }) => port)).size).toBeLessThan(3);
  });

  it('an answer that comes before a large body was taken is an answer', async () => {
    const origin = await serve((_request, response) =>
      response.writeHead(413, { connection: 'close' }).end('too large'),
    );
    expect(await send(origin, {}, Buffer.alloc(3_000_000, 'x'))).toMatchObject({ status: 413, body: 'too large' });
  });

  it('nobody listening is a connection fault', async () => {
    const origin = await serve(() => undefined);
    servers.pop()?.close();
    expect((await send(origin)).fault?.kind).toBe('connect');
    expect((await send(origin, {}, Buffer.alloc(100_000))).fault?.kind).toBe('connect');
  });

  it('a connection closed before an answer is a connection fault, after its head a truncation', async () => {
    expect((await send(await serveRaw(''))).fault?.kind).toBe('connect');
    expect((await send(await serveRaw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))).fault?.kind).toBe(
      'truncated',
    );
  });

  it('silence is a timeout, before the head and in the body', async () => {
    const silent = await serve(() => undefined);
    expect((await send(silent, { firstByteMs: 100 })).fault).toMatchObject({ kind: 'timeout', deadline: 'first_byte' });
    const stalls = await serve((_request, response) => void response.writeHead(200).write('x'));
    expect((await send(stalls, { idleMs: 100 })).fault).toMatchObject({ kind: 'timeout', deadline: 'idle' });
  });

  it('a connection that does not come to stand in the time of the policy is a connection fault, by any length of it', async () => {
    const clock = createFakeClock();
    const mute = createTcpServer((socket) => socket.on('error', () => undefined));
    servers.push(mute);
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    // A TLS handshake that nobody answers.
    const origin = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
    const own = createTransport({ timers: timersOf(clock) });
    const faults: UpstreamFault[] = [];
    for (const connectMs of [300, 20_000]) {
      own.send(
        { method: 'POST', origin, path: '/', headers: [], body: Buffer.from('{}') },
        { ...NOTHING, onError: (fault) => faults.push(fault) },
        { connectMs, firstByteMs: 5_000, idleMs: 5_000 },
      );
    }
    clock.advance(299);
    expect(faults).toEqual([]);
    clock.advance(1);
    expect(faults).toEqual([{ kind: 'connect', deadline: 'connect', detail: 'no connection within 300 ms' }]);
    clock.advance(19_699);
    expect(faults).toHaveLength(1);
    clock.advance(1);
    expect(faults).toHaveLength(2);
    await own.close();
    expect(faults).toHaveLength(2);
  });

  it('stops the connect deadline once the request is on its way', async () => {
    const clock = createFakeClock();
    const own = createTransport({ timers: timersOf(clock) });
    const origin = await serve((_request, response) => {
      clock.advance(5_000);
      response.end('ok');
    });
    await new Promise<void>((resolve, reject) => {
      own.send(
        { method: 'POST', origin, path: '/', headers: [], body: Buffer.from('{}') },
        { ...NOTHING, onEnd: resolve, onError: (fault) => reject(new Error(fault.detail)) },
        { connectMs: 1_000, firstByteMs: 5_000, idleMs: 5_000 },
      );
    });
    expect(clock.pendingTimers()).toBe(0);
    await own.close();
  });

  it('what is not HTTP, and a head without bounds, is malformed', async () => {
    expect((await send(await serveRaw('hello\r\n\r\n'))).fault?.kind).toBe('malformed');
    expect((await send(await serveRaw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`))).fault?.kind).toBe(
      'malformed',
    );
  });

  it('giving up closes the connection at once and calls nobody any more', async () => {
    const closed = new Promise<void>((resolve) => {
      void serve((_request, response) => {
        response.on('close', resolve);
        response.writeHead(200).write('x');
      }).then((origin) => {
        const call = transport.send(
          { method: 'POST', origin, path: '/', headers: [], body: Buffer.from('{}') },
          {
            onHeaders: () => call.abort(),
            onData: () => {
              throw new Error('called after the abort');
            },
            onEnd: () => {
              throw new Error('called after the abort');
            },
            onError: () => {
              throw new Error('called after the abort');
            },
          },
          { connectMs: 1_000, firstByteMs: 5_000, idleMs: 5_000 },
        );
      });
    });
    await closed;
  });

  it('a paused answer waits until it is wanted again', async () => {
    const { promise: paused, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: allSent, resolve: sent } = Promise.withResolvers<void>();
    const origin = await serve((_request, response) => {
      response.writeHead(200).write('a');
      void paused.then(() => response.end('b', sent));
    });
    const got: string[] = [];
    let gotWhilePaused: string | undefined;
    await new Promise<void>((resolve) => {
      const call = transport.send(
        { method: 'POST', origin, path: '/', headers: [], body: Buffer.from('{}') },
        {
          onHeaders: () => undefined,
          onData: (chunk) => {
            got.push(chunk.toString());
            if (got.length > 1) return;
            call.pause();
            goOn();
            void allSent.then(async () => {
              for (let turns = 0; turns < 20; turns += 1) await new Promise((next) => setImmediate(next));
              gotWhilePaused = got.join('');
              call.resume();
            });
          },
          onEnd: resolve,
          onError: () => undefined,
        },
        { connectMs: 1_000, firstByteMs: 5_000, idleMs: 5_000 },
      );
    });
    expect(gotWhilePaused).toBe('a');
    expect(got).toEqual(['a', 'b']);
  });
});
