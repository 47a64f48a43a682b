import type { Limits, LimitScope, LimitStoreStatus } from '@sluice/contracts';
import { createFakeClock, eventually, startRedis, type RedisServer } from '@sluice/testing';
import { Redis } from 'ioredis';
import { createValkeyLimitStore } from './valkey-limit-store.ts';

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
