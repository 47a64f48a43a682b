import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
]);

/** Passes a request on to the console's backend and its answer back; 502 when the backend does not answer. */
export function proxyTo(bffUrl: string, req: IncomingMessage, res: ServerResponse): void {
  const headers = Object.fromEntries(Object.entries(req.headers).filter(([name]) => !HOP_BY_HOP.has(name)));
  // The client's address for the backend, which believes it when the console is one of its trusted proxies.
  headers['x-forwarded-for'] = [headers['x-forwarded-for'], req.socket.remoteAddress].flat().filter(Boolean).join(', ');
  const upstream = request(new URL(req.url ?? '/', bffUrl), { method: req.method, headers, timeout: 30_000 });
  upstream.on('response', (answer) => {
    const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name));
    res.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
    // A stream's head must not wait for its first words.
    res.flushHeaders();
    answer.pipe(res);
    answer.on('error', () => res.destroy());
  });
  upstream.on('timeout', () => upstream.destroy());
  upstream.on('error', () => {
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const problem = {
      type: 'about:blank',
      title: 'The console’s backend does not answer',
      status: 502,
      request_id: randomUUID(),
    };
    res.writeHead(502, {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    res.end(JSON.stringify(problem));
  });
  res.on('close', () => upstream.destroy());
  req.pipe(upstream);
}
