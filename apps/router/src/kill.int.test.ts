import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { portsFrom, type RouterSnapshot } from '@sluice/contracts';
import { eventually, freePortBase, spawnService, type SpawnedService } from '@sluice/testing';
import { messages, testSnapshot, TOKEN } from './testing/start-test-router.ts';
import { startTestDatabase, type TestDatabase } from './testing/start-test-database.ts';

const CP_TOKEN = 'token-of-the-router-at-the-control-plane';
let database: TestDatabase;
let controlPlane: Server;
let router: SpawnedService;
let env: Record<string, string>;
let url: string;

beforeAll(async () => {
  database = await startTestDatabase();
  const snapshot = JSON.stringify(testSnapshot());
  controlPlane = createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`event: snapshot\ndata: ${snapshot}\n\n`);
  });
  await new Promise<void>((resolve) => controlPlane.listen(0, '127.0.0.1', resolve));
  const base = await freePortBase();
  url = `http://127.0.0.1:${portsFrom(base).router}`;
  env = {
    SLUICE_PORT_BASE: String(base),
    SLUICE_TOKEN_ROUTER: TOKEN,
    SLUICE_TOKEN_ROUTER_CP: CP_TOKEN,
    SLUICE_CONTROL_PLANE_URL: `http://127.0.0.1:${(controlPlane.address() as AddressInfo).port}`,
    DATABASE_URL: database.url,
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    LOG_LEVEL: 'warn',
  };
});
afterAll(async () => {
  await router.stop();
  controlPlane.closeAllConnections();
  controlPlane.close();
  await database.stop();
});

const start = () =>
  spawnService({
    entry: join(import.meta.dirname, 'main.ts'),
    env,
    readyWhen: { url: `${url}/health` },
    timeoutMs: 60_000,
  });
async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const res = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!res.ok) throw new Error(`${path}: ${res.status} ${await res.text()}`);
  return (await res.json()) as T;
}
/** The published arms once they have learned so many rewards. */
const armsAfter = (rewards: number) =>
  eventually(
    async () => {
      const { control } = await call<RouterSnapshot>('GET', '/internal/snapshot');
      const learned = control.arms.reduce((sum, { n }) => sum + n, 0);
      if (learned !== rewards) throw new Error(`${learned} of ${rewards} rewards learned`);
      return control;
    },
    { timeoutMs: 30_000 },
  );

it('killed without warning and started again, the router has the same coefficients to the last bit, and learns on', async () => {
  router = await start();
  await eventually(
    () => call('POST', '/route', { workspace: 'acme-prod', messages: messages('Ready?'), dry_run: true }),
    { timeoutMs: 30_000 },
  );
  const rate = async (from: number, to: number): Promise<void> => {
    const ids: string[] = [];
    for (let i = from; i < to; i += 1)
      ids.push(
        (
          await call<{ decision_id: string }>('POST', '/route', {
            workspace: i % 3 === 0 ? 'globex-prod' : 'acme-prod',
            messages: messages(`Explain number ${i * 37} in ${i} words`),
            request_id: `r${i}`,
          })
        ).decision_id,
      );
    await call(
      'POST',
      '/feedback',
      ids.map((decision_id, i) => ({ decision_id, value: ((i + from) * 0.37) % 1 })),
    );
  };
  await rate(0, 60);
  await call('POST', '/policies', {
    version: 'v2',
    note: 'cheaper',
    actor: { kind: 'person', id: 'ada' },
    settings: { cost_weight: 0.4 },
  });
  const rollout = await call<{ id: string }>('POST', '/rollouts', {
    policy_version: 'v2',
    actor: { kind: 'person', id: 'ada' },
    reason: 'it saves money',
  });
  await call('POST', `/rollouts/${rollout.id}/start`, {
    actor: { kind: 'person', id: 'ada' },
    reason: 'it saves money',
  });
  const before = await armsAfter(60);
  const evidence = await call<object>('GET', `/rollouts/${rollout.id}`);
  const first = await call<{ decision_id: string }>('POST', '/route', {
    workspace: 'globex-prod',
    messages: messages('Explain number 0 in 0 words'),
    request_id: 'r0',
  });
  await router.kill('SIGKILL');
  router = await start();
  expect(await armsAfter(60)).toEqual(before);
  const timeless = (view: object) => ({ ...view, eta_s: 0 });
  expect(timeless(await call<object>('GET', `/rollouts/${rollout.id}`))).toEqual(timeless(evidence));
  expect(
    await call<{ decision_id: string }>('POST', '/route', {
      workspace: 'globex-prod',
      messages: messages('Explain number 0 in 0 words'),
      request_id: 'r0',
    }),
  ).toMatchObject({ decision_id: first.decision_id });
  await rate(60, 70);
  expect((await armsAfter(70)).arms).not.toEqual(before.arms);
}, 180_000);
