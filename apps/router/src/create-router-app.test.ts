import { createLogger, listen, type Listening } from '@sluice/service-kit';
import { createRouterApp, ROUTER_ROUTES } from './create-router-app.ts';

const TOKEN = 'token-of-the-router';
let server: Listening;
beforeAll(async () => {
  const app = createRouterApp({ logger: createLogger({ service: 'router', level: 'silent' }), token: TOKEN });
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

  it('lives without a credential', async () => {
    const res = await fetch(`${server.url}/health`);
    expect([res.status, await res.json()]).toEqual([200, { status: 'ok', learning: false }]);
  });

  it('describes every route it has', async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toEqual(ROUTER_ROUTES.map((route) => route.path));
  });
});
