/** @jest-environment node */
import { createServer, type Server } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConsoleServer } from '../server/create-console-server.ts';

let folder = '';
let bff: Server;
let server: Server;
let url = '';
const seen: string[] = [];

const start = (s: Server) =>
  new Promise<number>((resolve) => void s.listen(0, '127.0.0.1', () => resolve((s.address() as AddressInfo).port)));
const stop = (s: Server) => {
  s.closeAllConnections();
  return new Promise((resolve) => s.close(resolve));
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'console-'));
  await mkdir(join(folder, 'dist', 'assets'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'sekret');
  await writeFile(join(folder, 'dist', 'index.html'), '<title>page</title>');
  await writeFile(join(folder, 'dist', 'assets', 'a.js'), 'code');
  seen.length = 0;
  bff = createServer((req, res) => {
    seen.push(`${req.method} ${req.url} ${req.headers.cookie ?? ''} ${req.headers.host}`);
    res.setHeader('set-cookie', 'sluice_session=x');
    res.statusCode = 418;
    req.pipe(res);
  });
  const bffPort = await start(bff);
  server = createConsoleServer({ dist: join(folder, 'dist'), bffUrl: `http://127.0.0.1:${bffPort}` });
  url = `http://127.0.0.1:${await start(server)}`;
});
afterEach(async () => {
  await stop(server);
  await stop(bff);
  await rm(folder, { recursive: true });
});

/** Sends a request line that no client would send. */
function raw(path: string, host = new URL(url).host): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  });
}

describe('console server', () => {
  it('serves pages at every address of the console, under a strict policy', async () => {
    for (const path of ['/', '/acme-prod/usage', '/a?b=c.d']) {
      const res = await fetch(url + path);
      expect([res.status, await res.text()]).toEqual([200, '<title>page</title>']);
      expect(res.headers.get('content-security-policy')).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'",
      );
    }
    const asset = await fetch(`${url}/assets/a.js`);
    expect([asset.headers.get('content-type'), asset.headers.get('cache-control')]).toEqual([
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
    expect((await fetch(`${url}/assets/none.js`)).status).toBe(404);
  });

  it.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/..%5csecret.txt',
    '/%00',
    '/%zz',
    '//../secret.txt',
  ])('refuses %s', async (path) => {
    const answer = await raw(path);
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(answer).not.toContain('sekret');
  });

  it('passes the API on, both ways, with cookies', async () => {
    const res = await fetch(`${url}/api/session?x=1`, {
      method: 'POST',
      body: 'ping',
      headers: { cookie: 'sluice_session=y' },
    });
    expect([res.status, res.headers.get('set-cookie'), await res.text()]).toEqual([418, 'sluice_session=x', 'ping']);
    expect(seen).toEqual([`POST /api/session?x=1 sluice_session=y 127.0.0.1:${(bff.address() as AddressInfo).port}`]);
  });

  it('never leaves its backend, whatever the request names', async () => {
    await raw('/api/../../x');
    await raw('http://127.0.0.1:1/api/x');
    expect(seen).toEqual([]);
  });

  it('says that the backend does not answer', async () => {
    await stop(bff);
    const res = await fetch(`${url}/api/session`);
    expect(res.status).toBe(502);
    expect(await res.json()).toMatchObject({ status: 502, title: 'The console’s backend does not answer' });
    bff.listen(0);
  });

  it('says how to build the console when it is not built, and serves it once it is', async () => {
    await rm(join(folder, 'dist', 'index.html'));
    const res = await fetch(url);
    expect(res.status).toBe(503);
    expect(await res.text()).toContain('npm run build');
    await writeFile(join(folder, 'dist', 'index.html'), 'built');
    expect(await (await fetch(url)).text()).toBe('built');
  });

  it('serves loopback names only', async () => {
    expect(await raw('/', 'rebound.evil.test')).toContain('421');
    expect((await fetch(url.replace('127.0.0.1', 'localhost'))).status).toBe(200);
  });
});
