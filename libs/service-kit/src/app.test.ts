import type { Express } from 'express';
import { z } from 'zod';
import { createApp, finishApp } from './app.ts';
import { listen, type Listening } from './listen.ts';
import { createLogger } from './logger.ts';
import { parseBody, parseQuery, ProblemError } from './problem.ts';

const lines: string[] = [];
const logger = createLogger({
  service: 'test',
  level: 'info',
  destination: { write: (line) => void lines.push(line) },
});
let open: Listening | undefined;

async function serve(
  routes: (app: Express) => void,
  options: { allowedHosts?: string[]; jsonLimit?: number } = {},
): Promise<string> {
  const app = createApp({ logger, ...options });
  routes(app);
  finishApp(app, { logger });
  open = await listen(app, { host: '127.0.0.1', port: 0 });
  return open.url;
}

afterEach(async () => {
  await open?.close();
  open = undefined;
  lines.length = 0;
});

const Body = z.strictObject({ limits: z.object({ burst: z.int() }) });
const post = (url: string, body: string) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

describe('createApp and finishApp', () => {
  it('answers an unknown route with a problem that carries the request id of the header', async () => {
    const res = await fetch(`${await serve(() => {})}/nothing`);
    expect(res.status).toBe(404);
    expect(res.headers.get('content-type')).toContain('application/problem+json');
    expect(await res.json()).toEqual({
      type: 'about:blank',
      title: 'Not found',
      status: 404,
      request_id: res.headers.get('x-request-id'),
    });
  });

  it('never lets a caller choose the request id', async () => {
    const res = await fetch(`${await serve(() => {})}/`, { headers: { 'x-request-id': 'mine' } });
    expect(res.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('tells nothing of an unforeseen fault, logs it, and keeps serving', async () => {
    const url = await serve((app) => {
      app.get('/broken', async () => {
        throw new Error('connection string sekret');
      });
    });
    const res = await fetch(`${url}/broken`);
    const text = await res.text();
    expect(res.status).toBe(500);
    expect(text).not.toContain('sekret');
    expect(lines.join('')).toContain(res.headers.get('x-request-id') ?? 'none');
    expect((await fetch(`${url}/none`)).status).toBe(404);
  });

  it('names each wrong field of a body', async () => {
    const url = await serve((app) => app.post('/x', (req, res) => void res.json(parseBody(Body, req))));
    const res = await post(`${url}/x`, '{"limits":{"burst":"many"}}');
    expect(res.status).toBe(400);
    expect(await res.json()).toMatchObject({ errors: [{ path: 'limits.burst' }] });
    expect(await (await post(`${url}/x`, '{"limits":{"burst":3}}')).json()).toEqual({ limits: { burst: 3 } });
  });

  it('answers broken JSON, an oversized body and a missing body as the client’s fault', async () => {
    const url = await serve((app) => app.post('/x', (req, res) => void res.json(parseBody(Body, req))), {
      jsonLimit: 200,
    });
    expect((await post(`${url}/x`, '{')).status).toBe(400);
    expect((await post(`${url}/x`, JSON.stringify('a'.repeat(300)))).status).toBe(413);
    expect((await fetch(`${url}/x`, { method: 'POST' })).status).toBe(400);
  });

  it('refuses wrong query parameters by name', async () => {
    const url = await serve((app) =>
      app.get('/x', (req, res) => void res.json(parseQuery(z.strictObject({ limit: z.coerce.number() }), req))),
    );
    expect(await (await fetch(`${url}/x?limit=a`)).json()).toMatchObject({ status: 400, errors: [{ path: 'limit' }] });
    expect(await (await fetch(`${url}/x?limit=4`)).json()).toEqual({ limit: 4 });
  });

  it('sends the headers of a problem', async () => {
    const url = await serve((app) =>
      app.get('/x', () => {
        throw new ProblemError(429, 'Too many', { detail: 'Wait.', headers: { 'retry-after': '7' } });
      }),
    );
    const res = await fetch(`${url}/x`);
    expect([res.status, res.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await res.json()).toMatchObject({ title: 'Too many', detail: 'Wait.' });
  });

  it('serves only the allowed hosts', async () => {
    const url = await serve((app) => app.get('/x', (_req, res) => void res.json(1)), { allowedHosts: ['localhost'] });
    expect((await fetch(`${url}/x`)).status).toBe(421);
    expect((await fetch(`${url.replace('127.0.0.1', 'localhost')}/x`)).status).toBe(200);
  });

  it('sets the headers that keep browsers from framing, sniffing and caching', async () => {
    const { headers } = await fetch(`${await serve(() => {})}/`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('x-powered-by')).toBe(false);
  });
});
