import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRouterClient } from '../router/router-client.ts';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

const asked: { request: string; token: string | undefined; body: unknown }[] = [];
let answer: { status: number; body: string };
let server: Server;
let test: TestPlane;
beforeAll(async () => {
  server = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk: Buffer) => (text += chunk.toString()));
    req.on('end', () => {
      asked.push({
        request: `${req.method} ${req.url}`,
        token: req.headers.authorization,
        body: text === '' ? undefined : JSON.parse(text),
      });
      res.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  test = await startTestPlane({
    router: createRouterClient({ url: `http://127.0.0.1:${port}`, token: 'router-token' }),
  });
});
beforeEach(() => {
  asked.length = 0;
  answer = { status: 200, body: '{"rollouts":[]}' };
});
afterAll(async () => {
  await test.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('the router behind the operator API', () => {
  it('is asked with a token of its own, and its answer is passed on', async () => {
    expect(await (await test.call('GET', '/api/router/rollouts')).json()).toEqual({ rollouts: [] });
    await test.call('GET', '/api/router/decisions?limit=5&tenant=acme');
    expect(asked).toEqual([
      { request: 'GET /rollouts', token: 'Bearer router-token', body: undefined },
      { request: 'GET /decisions?limit=5&tenant=acme', token: 'Bearer router-token', body: undefined },
    ]);
  });

  it('is told who acts by the session and never by a body, needs a reason, and it is audited', async () => {
    expect((await test.call('POST', '/api/router/rollouts/01J/abort', { reason: 'no' })).status).toBe(400);
    expect(
      (
        await test.call('POST', '/api/router/rollouts/01J/abort', {
          reason: 'it is worse',
          actor: { kind: 'person', id: 'eve' },
        })
      ).status,
    ).toBe(400);
    expect((await test.call('POST', '/api/router/rollouts/01J/abort', { reason: 'it is worse' })).status).toBe(200);
    expect(asked).toEqual([
      {
        request: 'POST /rollouts/01J/abort',
        token: 'Bearer router-token',
        body: { reason: 'it is worse', actor: { kind: 'person', id: 'ops' } },
      },
    ]);
    expect(test.audited.filter(({ type }) => type === 'rollout.abort')).toMatchObject([
      { target: { kind: 'rollout', id: '01J' }, after: { reason: 'it is worse' } },
    ]);
  });

  it('has its reactions to drift held and released by who is signed in, audited', async () => {
    expect(
      (await test.call('POST', '/api/router/drift/hold', { step: 'rollback', reason: 'it is worse' })).status,
    ).toBe(400);
    expect(
      (await test.call('POST', '/api/router/drift/hold', { step: 'freeze', reason: 'the judge is broken' })).status,
    ).toBe(200);
    expect((await test.call('POST', '/api/router/drift/release', { reason: 'it is mended' })).status).toBe(200);
    const actor = { kind: 'person', id: 'ops' };
    expect(asked.map(({ request, body }) => [request, body])).toEqual([
      ['POST /drift/hold', { step: 'freeze', reason: 'the judge is broken', actor }],
      ['POST /drift/release', { reason: 'it is mended', actor }],
    ]);
    expect(test.audited.filter(({ type }) => type.startsWith('drift.'))).toMatchObject([
      { type: 'drift.hold', target: { kind: 'router', id: 'drift' } },
      { type: 'drift.release' },
    ]);
  });

  it('is never asked for another path by an id', async () => {
    await test.call('POST', `/api/router/rollouts/${encodeURIComponent('../policies')}/start`, { reason: 'a test' });
    expect(asked.map(({ request }) => request)).toEqual(['POST /rollouts/..%2Fpolicies/start']);
  });

  it('its refusals keep their status and words, but for its own 401, which is not about who asks here', async () => {
    answer = { status: 409, body: '{"title":"Rolled back","detail":"A person has to reset it."}' };
    expect(await (await test.call('GET', '/api/router/arms')).json()).toMatchObject({
      status: 409,
      title: 'Rolled back',
      detail: 'A person has to reset it.',
    });
    answer = { status: 401, body: '{"title":"Unauthorized"}' };
    expect((await test.call('GET', '/api/router/arms')).status).toBe(502);
    answer = { status: 200, body: '<html>' };
    expect((await test.call('GET', '/api/router/arms')).status).toBe(502);
  });

  it('away or not configured is a 503 that says what goes on without it', async () => {
    await expect(createRouterClient({ url: 'http://127.0.0.1:1', token: 't' }).get('/arms')).rejects.toMatchObject({
      status: 503,
      detail: expect.stringContaining('last policy'),
    });
    await expect(createRouterClient({ url: undefined, token: 't' }).get('/arms')).rejects.toMatchObject({
      status: 503,
      detail: expect.stringContaining('SLUICE_ROUTER_URL'),
    });
  });
});
