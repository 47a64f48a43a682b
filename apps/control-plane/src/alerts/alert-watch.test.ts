import type { ConfigSnapshot } from '@sluice/contracts';
import { applyPatch } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { applySeed } from '../config/apply-seed.ts';
import { emptySnapshot } from '../config/config-rows.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { demoSeed } from '../testing/demo-seed.ts';
import { createAlertWatch } from './alert-watch.ts';

describe('the watch over all workspaces', () => {
  it('looks at every other one where one cannot be looked at', async () => {
    const snapshot = applyPatch({ ...emptySnapshot(1), version: 0 } as ConfigSnapshot, { ...applySeed(demoSeed(), '2026-01-01T00:00:00.000Z').patch, version: 1 });
    const slugs = Object.keys(snapshot.workspaces);
    const updated: string[] = [];
    const faults: unknown[] = [];
    const watch = createAlertWatch({
      store: { version: 1, snapshot: () => snapshot, rowVersion: () => 1 } as unknown as ConfigStore,
      alerts: {
        update: async ({ workspace }) => {
          if (workspace === slugs[0]) throw new Error('statement timeout');
          updated.push(workspace);
          return { raised: 0, ended: 0 };
        },
        list: async () => ({ rows: [], next_cursor: null }),
        open: async () => 0,
        refusals: async () => [],
      },
      meters: async () => ({ input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_nanousd: 0 }),
      clock: createFakeClock(Date.parse('2026-04-10T00:00:00.000Z')),
      onError: (error) => faults.push(error),
    });
    await watch.beat();
    expect(slugs.length).toBeGreaterThan(1);
    expect(updated).toEqual(slugs.slice(1));
    expect(faults).toHaveLength(1);
  });
});
