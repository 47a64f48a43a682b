import { createFakeClock } from '@sluice/testing';
import { createMemoryLimitStore } from './memory-limit-store.ts';
import { limitStoreConformance } from './testing.ts';

limitStoreConformance('memory limit store', (clock) => createMemoryLimitStore({ clock }));

describe('createMemoryLimitStore', () => {
  it('refuses a lease that another store gave', () => {
    const store = createMemoryLimitStore({ clock: createFakeClock() });
    const scope = { tenantId: 't', timeZone: 'UTC', levels: [] };
    const lease = {
      id: 'req_x',
      scope,
      reservation: { inputTokens: 0, outputTokens: 0, costNanoUsd: 0 },
      admittedAtMs: 0,
    };
    expect(() => store.settle(lease, { kind: 'unused' })).toThrow(TypeError);
  });
});
