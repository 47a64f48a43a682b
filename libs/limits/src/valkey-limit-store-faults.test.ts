import type { Limits, LimitScope, LimitStoreStatus } from '@sluice/contracts';
import { createFakeClock, eventually, startRedis, type RedisServer } from '@sluice/testing';
import { Redis } from 'ioredis';
import { createTierLimitStore } from './tier-limit-store.ts';
import { connectAuthority, createValkeyLimitStore } from './valkey-limit-store.ts';

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const limits: Limits = {
  requests: { perSecond: 1, burst: 4 },
  quotas: [
    {
      id: 'hour',
      meter: 'total_tokens',
      span: { kind: 'rolling', seconds: 3_600, steps: 12 },
      limit: 1_000,
      mode: 'hard',
      alertAtPercent: [],
    },
  ],
};
const scopeOf = (tenantId: string): LimitScope => ({
  tenantId,
  timeZone: 'UTC',
  levels: [{ level: 'tenant', id: tenantId, limits }],
});

describe('what the server holds of two tenants is broken, and of a third it is not', () => {
  it.each<[string, (tenant: string) => Promise<unknown>]>([
    ['a level that is no hash', (tenant) => redis.set(`sluice:faulty:{${tenant}}:t:${tenant}`, 'x')],
    ['a list where gateways are kept', (tenant) => redis.lpush(`sluice:faulty:{${tenant}}:gws`, 'x')],
    [
      'a step that is no number',
      (tenant) => redis.hset(`sluice:faulty:{${tenant}}:t:${tenant}|hour:total_tokens`, 'x', 'y'),
    ],
  ])(
    '%s: the two are held to the share of this gateway, the third and the link stay as they are',
    async (_what, breakIt) => {
      await redis.flushall();
      const clock = createFakeClock(Date.UTC(2026, 10, 30, 23, 59));
      const broken: string[] = [];
      const states: LimitStoreStatus['state'][] = [];
      const store = createValkeyLimitStore({
        url: server.url,
        cellId: 'faulty',
        gatewayId: 'gw-1',
        clock,
        serverTime: () => clock.now(),
        leaseShare: 0,
        commandTimeoutMs: 2_000,
        flushMs: 5,
        onStatus: ({ state }) => states.push(state),
        onTenantFault: (tenant) => broken.push(tenant),
      });
      try {
        let ids = 0;
        const admit = async (tenant: string) =>
          store.admit({
            leaseId: `req_${++ids}`,
            scope: scopeOf(tenant),
            reservation: { inputTokens: 1, outputTokens: 0, costNanoUsd: 0 },
          });
        await admit('healthy');
        for (const tenant of ['bad-1', 'bad-2']) await breakIt(tenant);
        const served = { 'bad-1': 0, 'bad-2': 0, healthy: 1 };
        for (let round = 0; round < 10; round += 1)
          for (const tenant of ['bad-1', 'bad-2', 'healthy'] as const)
            if ((await admit(tenant)).admitted) served[tenant] += 1;
        expect(served).toEqual({ 'bad-1': 4, 'bad-2': 4, healthy: 4 });
        await store.heartbeat();
        expect(store.status.state).toBe('connected');
        expect(states).toEqual(['connected']);
        expect(broken.toSorted()).toEqual(['bad-1', 'bad-2']);
        // What is mended is taken up again.
        for (const tenant of ['bad-1', 'bad-2'])
          for (const key of await redis.keys(`sluice:faulty:{${tenant}}:*`)) await redis.del(key);
        const { exchanges } = store.stats;
        clock.advance(60_000);
        await eventually(() => expect(store.stats.exchanges).toBeGreaterThan(exchanges));
        await store.quiet();
        clock.advance(10_000);
        const { remote } = store.stats;
        expect((await admit('bad-1')).admitted).toBe(true);
        expect(store.stats.remote).toBe(remote + 1);
      } finally {
        await store.close();
      }
    },
  );
});

describe('what the server holds of another gateway is broken for one tenant', () => {
  it('keeps no other tenant from being compared with the ledger', async () => {
    await redis.flushall();
    const clock = createFakeClock(Date.UTC(2026, 10, 30, 23, 59));
    const broken: string[] = [];
    const store = createValkeyLimitStore({
      url: server.url,
      cellId: 'faulty',
      gatewayId: 'gw-1',
      clock,
      serverTime: () => clock.now(),
      leaseShare: 0,
      commandTimeoutMs: 2_000,
      flushMs: 1e9,
      onTenantFault: (tenant) => broken.push(tenant),
    });
    try {
      await eventually(() => expect(store.status.state).toBe('connected'));
      for (const tenant of ['bad', 'healthy']) await store.view(scopeOf(tenant));
      await redis.sadd('sluice:faulty:{bad}:cs', 'gw-2');
      await redis.set('sluice:faulty:{bad}:c:gw-2', 'x');
      const audited = await store.audit(store.levelsWithWindows());
      expect(audited.map(({ tenantId }) => tenantId)).toEqual(['healthy']);
      expect(broken).toEqual(['bad']);
      expect(store.status.state).toBe('connected');
    } finally {
      await store.close();
    }
  });
});

describe('limits that change while a comparison is under way', () => {
  it('put no window in the place of another', async () => {
    await redis.flushall();
    const clock = createFakeClock(Date.UTC(2026, 10, 30, 23, 59));
    const options = { url: server.url, cellId: 'changing', gatewayId: 'gw-1', clock, serverTime: () => clock.now() };
    let change: () => Promise<unknown> = async () => undefined;
    const authority = connectAuthority(options);
    const store = createTierLimitStore(
      {
        ...authority,
        get ready() {
          return authority.ready;
        },
        async audit(...args) {
          const held = await authority.audit(...args);
          await change();
          return held;
        },
      },
      { ...options, leaseShare: 0, flushMs: 1e9 },
    );
    try {
      await eventually(() => expect(store.status.state).toBe('connected'));
      const scope = scopeOf('acme');
      const result = await store.admit({
        leaseId: 'req_1',
        scope,
        reservation: { inputTokens: 1, outputTokens: 0, costNanoUsd: 0 },
      });
      if (!result.admitted) throw new Error('refused');
      const usage = { input: 300, output: 0, cache_read: 0, cache_write: 0, reasoning: 0, audio: 0 };
      await store.settle(result.lease, { kind: 'used', usage, costNanoUsd: 0 });
      const [hour] = limits.quotas as [Limits['quotas'][number]];
      change = async () =>
        store.view({
          ...scope,
          levels: [{ level: 'tenant', id: 'acme', limits: { ...limits, quotas: [{ ...hour, id: 'new' }, hour] } }],
        });
      const [level] = await store.audit(store.levelsWithWindows());
      expect(level?.windows.map(({ quota, steps }) => [quota, steps.map(([, used]) => used)])).toEqual([
        ['hour', [300]],
      ]);
    } finally {
      await store.close();
    }
  });
});
