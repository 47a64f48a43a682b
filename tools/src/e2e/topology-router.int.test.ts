import { join } from 'node:path';
import { EVENT_SCHEMA, LOCAL_REGION, portsFrom, TOPOLOGY, type OutgoingEvent } from '@sluice/contracts';
import {
  createSnsPublisher,
  createSpineClients,
  provisionTopology,
  readQueueStates,
  type SpineClients,
} from '@sluice/events';
import { eventually, freePortBase, spawnService, type SpawnedService } from '@sluice/testing';
import { buildApp } from 'fauxqs';
import { ROOT } from '../docs/read-repository.ts';

const TOKEN = 'token-for-tests-only-0123456789';
const at = (): string => new Date().toISOString();
const usage = (n: number, tenant_id: string, output: number): OutgoingEvent => ({
  id: `u${n}`,
  topic: 'usage-events',
  attributes: { type: 'call.settled', tenant_id },
  body: JSON.stringify({
    schema: EVENT_SCHEMA,
    event_id: `u${n}`,
    occurred_at: at(),
    type: 'call.settled',
    tenant_id,
    outcome: 'ok',
    usage: { input: 1, cache_read: 0, cache_write: 0, output, reasoning: 0, audio: 0 },
    a_later_field: true,
  }),
});
const refusals = (n: number, tenant_id: string, count: number, type: string): OutgoingEvent => ({
  id: `a${n}`,
  topic: 'anomaly-events',
  attributes: { type, tenant_id },
  body: JSON.stringify({ schema: EVENT_SCHEMA, event_id: `a${n}`, occurred_at: at(), type, tenant_id, count }),
});

describe('the router on the spine', () => {
  let app: ReturnType<typeof buildApp>;
  let spine: SpineClients;
  let router: SpawnedService;
  let ports: ReturnType<typeof portsFrom>;

  beforeAll(async () => {
    const base = await freePortBase();
    ports = portsFrom(base);
    app = buildApp({ logger: false, defaultRegion: LOCAL_REGION });
    const endpoint = await app.listen({ host: '127.0.0.1', port: ports.spine });
    spine = createSpineClients({
      endpoint,
      region: LOCAL_REGION,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    await provisionTopology(TOPOLOGY, spine);
    router = await spawnService({
      entry: join(ROOT, 'apps/router/src/main.ts'),
      env: {
        SLUICE_PORT_BASE: String(base),
        SLUICE_TOKEN_ROUTER: TOKEN,
        AWS_ENDPOINT_URL: endpoint,
        AWS_REGION: LOCAL_REGION,
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
      },
      // It is not ready without a control plane, and reads its queues all the same.
      readyWhen: { url: `http://127.0.0.1:${ports.router}/health` },
    });
  });
  afterAll(async () => {
    await router.stop();
    spine.close();
    await app.close();
  });

  const profile = async (tenant: string): Promise<unknown> =>
    (
      await fetch(`http://127.0.0.1:${ports.router}/tenants/${tenant}/profile`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      })
    ).json();

  it('drains both of its queues into signals, shows them as metrics, and dead-letters what it cannot read', async () => {
    await createSnsPublisher({ spine }).publish([
      ...Array.from({ length: 30 }, (_, n) => usage(n, 'acme', 250)),
      refusals(1, 'initech', 400, 'refusals.throttled'),
      refusals(2, 'initech', 50, 'refusals.quota'),
      { ...usage(99, 'acme', 1), body: '{"schema":"sluice.event/9"}' },
    ]);
    const depths = async (): Promise<unknown> => {
      const states = await readQueueStates(TOPOLOGY, spine);
      return ['router-usage', 'router-anomaly']
        .map((name) => states.find((state) => state.name === name))
        .map((state) => [state?.waiting, state?.in_flight, state?.dlq_depth]);
    };
    await eventually(
      async () =>
        expect(await depths()).toEqual([
          [0, 0, 1],
          [0, 0, 0],
        ]),
      { timeoutMs: 30_000 },
    );
    expect(await profile('acme')).toMatchObject({ events: 30, pressure: 0, difficulty: expect.closeTo(1 / 3, 6) });
    // Refusals by quota are not for the router: the subscription's filter keeps them away.
    const initech = (await profile('initech')) as { events: number; pressure: number };
    expect(initech.events).toBe(400);
    expect(initech.pressure).toBeGreaterThan(0.1);
    await eventually(
      async () => {
        const text = await (await fetch(`http://127.0.0.1:${ports.routerAdmin}/metrics`)).text();
        expect(text).toContain('sluice_router_queue_depth{queue="router-usage",service="router"} 0');
        expect(text).toContain('sluice_router_queue_depth{queue="router-usage-dlq",service="router"} 1');
        expect(text).toMatch(/sluice_router_tenant_pressure\{tenant="initech",service="router"\} 0\.\d/);
      },
      { timeoutMs: 30_000 },
    );
  });

  it('says what it consumes and that nothing is wrong with it', async () => {
    await eventually(async () => {
      const ready = (await (await fetch(`http://127.0.0.1:${ports.routerAdmin}/ready`)).json()) as { detail: unknown };
      expect(ready.detail).toMatchObject({
        consumes: [
          { queue: 'router-usage', retry_budget: 3 },
          { queue: 'router-anomaly', retry_budget: 3 },
        ],
        spine_faults: [],
      });
    });
  });
});
