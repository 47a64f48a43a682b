import { systemClock } from '@sluice/contracts';
import { createLogger, listen, type Listening } from '@sluice/service-kit';
import { createRouterApp, ROUTER_ROUTES } from './create-router-app.ts';
import { createTenantSignals } from './signals/tenant-signals.ts';

const TOKEN = 'token-of-the-router';
let server: Listening;
beforeAll(async () => {
  const signals = createTenantSignals({ clock: systemClock });
  signals.answered({ id: 'x', tenant: 'acme', atMs: systemClock.now(), outputTokens: 250 });
  const app = createRouterApp({ logger: createLogger({ service: 'router', level: 'silent' }), token: TOKEN, signals });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

describe('router', () => {
  it.each(['/route', '/feedback'])('%s says plainly that it is not built', async (path) => {
    const res = await fetch(server.url + path, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }, body: '{}' });
    expect(res.status).toBe(501);
    expect(await res.json()).toMatchObject({ title: 'The learned router is not built yet; the gateway uses its static plan' });
  });

  it.each(['/route', '/feedback'])('%s tells nothing to a caller without a service token', async (path) => {
    expect((await fetch(server.url + path, { method: 'POST' })).status).toBe(401);
  });

  it('tells the signals of a tenant to a service, and to nobody else', async () => {
    const ask = (id: string, headers: Record<string, string>) => fetch(`${server.url}/tenants/${id}/profile`, { headers });
    const authorization = `Bearer ${TOKEN}`;
    const known = await ask('acme', { authorization });
    expect([known.status, await known.json()]).toEqual([200, expect.objectContaining({ tenant: 'acme', pressure: 0, events: 1 })]);
    expect((await ask('acme', {})).status).toBe(401);
    expect((await ask('zork', { authorization })).status).toBe(404);
  });

  it('lives without a credential', async () => {
    const res = await fetch(`${server.url}/health`);
    expect([res.status, await res.json()]).toEqual([200, { status: 'ok', learning: false }]);
  });

  it('describes every route it has', async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toEqual(ROUTER_ROUTES.map((route) => route.path));
  });
});
