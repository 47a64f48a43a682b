import { startRedis, type FakeClock, type RedisServer } from '@sluice/testing';
import { limitStoreConformance } from './testing.ts';
import type { TierLimitStore, TierOptions } from './tier-limit-store.ts';
import { createValkeyLimitStore } from './valkey-limit-store.ts';

let server: RedisServer;
let cells = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

/** A store of a cell of its own, empty, in the time of the clock. */
function emptyStore(clock: FakeClock, options: Partial<TierOptions> = {}): TierLimitStore {
  return createValkeyLimitStore({
    url: server.url,
    cellId: `cell-${++cells}`,
    gatewayId: 'gw-1',
    clock,
    serverTime: () => clock.now(),
    ...options,
  });
}

limitStoreConformance('valkey limit store, every step a round trip', (clock) => emptyStore(clock, { leaseShare: 0 }));
limitStoreConformance('valkey limit store behind its local tier', (clock) => emptyStore(clock));
