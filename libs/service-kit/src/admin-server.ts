import { createServer, type ServerResponse } from 'node:http';
import { listenOn, type Listening } from './listen.ts';
import type { Metrics } from './metrics.ts';

export interface Readiness {
  ready: boolean;
  /** Says why not; shown as JSON. */
  detail: object;
}

export interface AdminOptions {
  host: string;
  port: number;
  metrics: Pick<Metrics, 'text'>;
  ready: () => Readiness;
}

/**
 * The private port of a service: `/metrics` in Prometheus text, `/health` (200 while the process lives), `/ready`
 * (200 or 503 with the detail).
 */
export function startAdminServer({ host, port, metrics, ready }: AdminOptions): Promise<Listening> {
  const server = createServer((req, res) => {
    const path = (req.url ?? '/').split('?', 1)[0];
    if (req.method !== 'GET' && req.method !== 'HEAD') return answer(res, 405, { error: 'method not allowed' });
    if (path === '/health') return answer(res, 200, { status: 'ok' });
    if (path === '/ready') {
      const state = ready();
      return answer(res, state.ready ? 200 : 503, state);
    }
    if (path !== '/metrics') return answer(res, 404, { error: 'not found' });
    metrics.text().then(
      (text) => {
        res.writeHead(200, { ...NOSNIFF, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
        res.end(text);
      },
      () => answer(res, 500, { error: 'metrics are not available' }),
    );
  });
  return listenOn(server, { host, port });
}

const NOSNIFF = { 'x-content-type-options': 'nosniff' };

function answer(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { ...NOSNIFF, 'content-type': 'application/json', 'cache-control': 'no-store' });
  res.end(JSON.stringify(body));
}
