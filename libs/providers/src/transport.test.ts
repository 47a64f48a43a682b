import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import type { UpstreamFault } from '@sluice/contracts';
import { createTransport, type Transport } from './transport.ts';

let transport: Transport;
const servers: { close(): unknown }[] = [];

beforeEach(() => {
  transport = createTransport({ connectTimeoutMs: 1_000, maxHeaderBytes: 16 * 1024 });
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

function send(origin: string, timeouts = { firstByteMs: 5_000, idleMs: 5_000 }): Promise<{ status: number; body: string; fault: UpstreamFault | undefined }> {
  return new Promise((resolve) => {
    let status = 0;
    const chunks: Buffer[] = [];
    const done = (fault?: UpstreamFault) => resolve({ status, body: Buffer.concat(chunks).toString(), fault });
    transport.send(
      { method: 'POST', origin, path: '/x', headers: ['content-type', 'application/json'], body: Buffer.from('{"a":1}') },
      { onHeaders: (code) => (status = code), onData: (chunk) => chunks.push(chunk), onEnd: () => done(), onError: done },
      timeouts,
    );
  });
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

  it('nobody listening is a connection fault', async () => {
    const origin = await serve(() => undefined);
    servers.pop()?.close();
    expect((await send(origin)).fault?.kind).toBe('connect');
  });

  it('a connection closed before an answer is a connection fault, after its head a truncation', async () => {
    expect((await send(await serveRaw(''))).fault?.kind).toBe('connect');
    expect((await send(await serveRaw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))).fault?.kind).toBe('truncated');
  });

  it('silence is a timeout, before the head and in the body', async () => {
    const silent = await serve(() => undefined);
    expect((await send(silent, { firstByteMs: 100, idleMs: 5_000 })).fault?.kind).toBe('timeout');
    const stalls = await serve((_request, response) => void response.writeHead(200).write('x'));
    expect((await send(stalls, { firstByteMs: 5_000, idleMs: 100 })).fault?.kind).toBe('timeout');
  }, 15_000);

  it('what is not HTTP, and a head without bounds, is malformed', async () => {
    expect((await send(await serveRaw('hello\r\n\r\n'))).fault?.kind).toBe('malformed');
    expect((await send(await serveRaw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`))).fault?.kind).toBe('malformed');
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
            onData: () => { throw new Error('called after the abort'); },
            onEnd: () => { throw new Error('called after the abort'); },
            onError: () => { throw new Error('called after the abort'); },
          },
          { firstByteMs: 5_000, idleMs: 5_000 },
        );
      });
    });
    await closed;
  });

  it('a paused answer waits until it is wanted again', async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(200).write('a');
      setTimeout(() => response.end('b'), 30);
    });
    const got: string[] = [];
    await new Promise<void>((resolve) => {
      const call = transport.send(
        { method: 'POST', origin, path: '/', headers: [], body: Buffer.from('{}') },
        {
          onHeaders: () => undefined,
          onData: (chunk) => {
            got.push(chunk.toString());
            if (got.length > 1) return;
            call.pause();
            setTimeout(() => {
              expect(got).toEqual(['a']);
              call.resume();
            }, 100);
          },
          onEnd: resolve,
          onError: () => undefined,
        },
        { firstByteMs: 5_000, idleMs: 5_000 },
      );
    });
    expect(got).toEqual(['a', 'b']);
  });
});
