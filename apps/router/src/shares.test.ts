import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createMemoryRouterStore } from './store/memory-router-store.ts';
import { createWaitingLog } from './learn/waiting-log.ts';
import type { DecisionRow } from './store/router-store.ts';
import { KEYS, messages, startTestRouter, testConfig, type TestRouter } from './testing/start-test-router.ts';

const PER_SECOND = 50;
/** Three customers: two flood, the third is well-behaved. */
const TOKENS = { acme: KEYS['acme-prod'], globex: KEYS['globex-prod'] };
const config = testConfig((raw) => {
  Object.assign(raw['tenants'] as object, { healthy: { id: 'healthy', name: 'Healthy', plan: 'p', limits: {} } });
  Object.assign(raw['workspaces'] as object, {
    'healthy-prod': { slug: 'healthy-prod', tenant: 'healthy', uuid: 'a0c3e000-0000-4000-8000-000000000003' },
  });
});

let clock: FakeClock;
let test: TestRouter;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  test = await startTestRouter({
    clock,
    config: () => config,
    tenantPerSecond: PER_SECOND,
    store: createMemoryRouterStore(),
  });
  await test.router.loaded;
  await test.router.tick();
});
afterEach(() => test.close());

const PROMPT = { messages: messages('Explain why 17 is prime.') };
const healthy = async () => (await test.call('POST', '/route', { workspace: 'healthy-prod', ...PROMPT })).status;

describe('a customer of the router', () => {
  const FLOODS: [string, string, (n: number) => unknown, number][] = [
    ['/route', 'decisions', () => PROMPT, 1],
    ['/route/batch', 'batches', () => ({ items: Array.from({ length: 10 }, () => PROMPT) }), 10],
    [
      '/feedback',
      'feedback',
      (n) => ({ decision_id: `01ARZ3NDEKTSV4RRFFQ69G5${String(n % 1000).padStart(3, '0')}`, value: 1 }),
      1,
    ],
  ];
  it.each(FLOODS)(
    'at %s is served while two others flood it with %s, who get 429 with a time to wait',
    async (path, _what, body, units) => {
      const outcomes: { status: number; retryAfter: string | null; items?: { status: number }[] }[] = [];
      const served: number[] = [];
      for (let second = 0; second < 2; second += 1) {
        const flood = Promise.all(
          Object.values(TOKENS).flatMap((token) =>
            Array.from({ length: 300 / units }, async (_, n) => {
              const { status, headers, body: answer } = await test.call('POST', path, body(n), token);
              outcomes.push({
                status,
                retryAfter: headers.get('retry-after'),
                items: (answer['items'] ?? []) as { status: number }[],
              });
            }),
          ),
        );
        for (let n = 0; n < 10; n += 1) served.push(await healthy());
        await flood;
        clock.advance(1_000);
      }
      expect(new Set(served)).toEqual(new Set([200]));
      const taken = outcomes.flatMap(({ status, items }) =>
        items !== undefined && items.length > 0 ? items.map((item) => item.status) : [status],
      );
      const refused = taken.filter((status) => status === 429);
      expect(taken.length - refused.length).toBeLessThanOrEqual(2 * (3 * PER_SECOND));
      expect(refused.length).toBeGreaterThan(0);
      expect(outcomes.filter(({ status }) => status === 429).every(({ retryAfter }) => Number(retryAfter) >= 1)).toBe(
        true,
      );
    },
    60_000,
  );

  it('is refused by a key over its share before its body is looked at', async () => {
    for (let n = 0; n < 2 * PER_SECOND; n += 1) await test.call('POST', '/route', PROMPT, TOKENS.acme);
    expect((await test.call('POST', '/route', '{ not json', TOKENS.acme)).status).toBe(429);
    expect((await test.call('POST', '/route', '{ not json', TOKENS.globex)).status).toBe(400);
  }, 60_000);
});

describe('decisions that wait for the log', () => {
  const row = (id: string, tenant: string) => ({ id, tenant }) as DecisionRow;

  it('of two customers never take the room of a third, and all room is free again once they are stored', async () => {
    let away = true;
    const log = createWaitingLog({
      store: () => (away ? Promise.reject(new Error('away')) : Promise.resolve()),
      logger: { warn: () => undefined },
      maxWaiting: 640,
      delayMs: 1e6,
    });
    for (let n = 0; n < 2_000; n += 1)
      for (const tenant of ['mallory', 'mallet']) if (log.accepts(tenant)) log.add(row(`${tenant}-${n}`, tenant));
    expect([log.waiting, log.accepts('mallory'), log.accepts('mallet')]).toEqual([640, false, false]);
    let own = 0;
    for (; log.accepts('healthy'); own += 1) log.add(row(`healthy-${own}`, 'healthy'));
    expect(own).toBe(10);
    away = false;
    await log.flush();
    expect([log.waiting, log.accepts('mallory')]).toEqual([0, true]);
    await log.close();
  });
});
