import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { listenOn } from './listen.ts';
import { sseFrame, sseStream, type SseOptions, type SseStream } from './sse-stream.ts';

async function serveStream(options: SseOptions = {}) {
  let resolve: (value: { stream: SseStream; res: ServerResponse }) => void = () => {};
  const opened = new Promise<{ stream: SseStream; res: ServerResponse }>((r) => (resolve = r));
  const server = await listenOn(
    createServer((_req, res) => resolve({ stream: sseStream(res, options), res })),
    { host: '127.0.0.1', port: 0, graceMs: 1 },
  );
  return { server, opened };
}

describe('sseStream', () => {
  it('writes events with JSON on one line, and comments', async () => {
    const { server, opened } = await serveStream();
    const res = await fetch(server.url);
    const { stream } = await opened;
    stream.send('state', { text: 'a\nb' });
    stream.comment('ping\nx');
    stream.close();
    expect(res.headers.get('content-type')).toBe('text/event-stream');
    expect(await res.text()).toBe('event: state\ndata: {"text":"a\\nb"}\n\n: ping x\n\n');
    await server.close();
  });

  it('tells once that the reader has gone, and ignores what is sent after', async () => {
    const { server, opened } = await serveStream();
    const abort = new AbortController();
    await fetch(server.url, { signal: abort.signal });
    const { stream } = await opened;
    let told = 0;
    const gone = new Promise<void>((resolve) =>
      stream.onClose(() => {
        told++;
        resolve();
      }),
    );
    abort.abort();
    await gone;
    stream.send('late', 1);
    stream.close();
    expect([told, stream.closed]).toEqual([1, true]);
    await server.close();
  });

  it('drops a peer that does not read instead of buffering for it', async () => {
    const { server, opened } = await serveStream({ maxBufferedBytes: 64 * 1024, stallMs: 60_000 });
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const { stream, res } = await opened;
    const payload = 'x'.repeat(32 * 1024);
    let largest = 0;
    for (let sent = 0; !stream.closed && sent < 2000; sent++) {
      stream.send('state', payload);
      largest = Math.max(largest, res.writableLength);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(stream.closed).toBe(true);
    expect(largest).toBeLessThan(160 * 1024);
    socket.destroy();
    await server.close();
  });

  it('sends one event that is larger than the bound whole to a peer that takes it slowly, and what comes behind it', async () => {
    const { server, opened } = await serveStream({ maxBufferedBytes: 64 * 1024, stallMs: 60_000 });
    const socket = connect(server.port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const { stream, res } = await opened;
    const frame = sseFrame('snapshot', JSON.stringify('x'.repeat(20 * 1024 * 1024)));
    stream.sendFrame(frame);
    stream.send('ping', 1);
    expect([stream.closed, res.writableLength < 512 * 1024]).toEqual([false, true]);
    let bytes = 0;
    let tail = '';
    const all = new Promise<void>((resolve) =>
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        tail = (tail + chunk.toString('latin1')).slice(-200);
        if (tail.includes('event: ping')) resolve();
      }),
    );
    socket.resume();
    await all;
    expect(bytes).toBeGreaterThan(frame.length);
    socket.destroy();
    await server.close();
  });

  it('drops a peer that stalls although nothing more is sent', async () => {
    const { server, opened } = await serveStream({ stallMs: 20 });
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const { stream } = await opened;
    const closed = new Promise<void>((resolve) => stream.onClose(resolve));
    stream.send('snapshot', 'x'.repeat(32 * 1024 * 1024));
    const alive = setInterval(() => {}, 1000);
    await closed;
    clearInterval(alive);
    expect(stream.closed).toBe(true);
    socket.destroy();
    await server.close();
  });
});
