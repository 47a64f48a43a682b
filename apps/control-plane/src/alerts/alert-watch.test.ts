import type { ConfigSnapshot, QuotaWindow } from '@sluice/contracts';
import { applyPatch } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { applySeed } from '../config/apply-seed.ts';
import { emptySnapshot } from '../config/config-rows.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { demoSeed } from '../testing/demo-seed.ts';
import { createAlertWatch } from './alert-watch.ts';

const NOW = Date.parse('2026-04-10T00:12:00.000Z');
const month: QuotaWindow = {
  id: 'month',
  meter: 'total_tokens',
  span: { kind: 'calendar', period: 'month' },
  limit: 1000,
  mode: 'hard',
  alertAtPercent: [],
};
const seeded = applyPatch({ ...emptySnapshot(1), version: 0 } as ConfigSnapshot, {
  ...applySeed(demoSeed(), '2026-01-01T00:00:00.000Z').patch,
  version: 1,
});
const slugs = Object.keys(seeded.workspaces);
const snapshot: ConfigSnapshot = {
  ...seeded,
  keys: Object.fromEntries(
    Object.entries(seeded.keys).map(([id, key], i) => [
      id,
      {
        ...key,
        workspace: slugs[i === 0 ? 1 : 0] ?? '',
        ...(i === 0 ? { expiresAt: '2026-04-12T00:00:00.000Z' } : {}),
      },
    ]),
  ),
  workspaces: Object.fromEntries(
    Object.entries(seeded.workspaces).map(([slug, workspace]) => [slug, { ...workspace, tenant: 'acme' }]),
  ),
  tenants: Object.fromEntries(
    Object.entries(seeded.tenants).map(([id, tenant]) => [
      id,
      { ...tenant, limits: { ...tenant.limits, quotas: [month] } },
    ]),
  ),
};

function watchOver(failing?: string) {
  const updated: string[] = [];
  const told: string[] = [];
  const faults: unknown[] = [];
  const asked: { of: string; fromMs: number; toMs: number }[] = [];
  const watch = createAlertWatch({
    store: { version: 1, snapshot: () => snapshot, rowVersion: () => 1 } as unknown as ConfigStore,
    alerts: {
      update: async ({ workspace }, conditions) => {
        told.push(...conditions.map(({ kind }) => `${workspace} ${kind}`));
        if (workspace === failing) throw new Error('statement timeout');
        updated.push(workspace);
        return { raised: 0, ended: 0 };
      },
      list: async () => ({ rows: [], next_cursor: null }),
      open: async () => 0,
      refusals: async () => [],
    },
    meters: async ({ tenant, workspace }, fromMs, toMs) => {
      asked.push({ of: tenant ?? `workspace ${workspace}`, fromMs, toMs });
      return { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_nanousd: 0 };
    },
    clock: createFakeClock(NOW),
    onError: (error) => faults.push(error),
  });
  return { watch, updated, told, faults, asked };
}

describe('the watch over all workspaces', () => {
  it('looks at every other one where one cannot be looked at', async () => {
    const { watch, updated, faults } = watchOver(slugs[0]);
    await watch.beat();
    expect(slugs.length).toBeGreaterThan(1);
    expect(updated).toEqual(slugs.slice(1));
    expect(faults).toHaveLength(1);
  });

  it('asks for each span of a tenant once, and by whole hours, which cost what the tenant has and not what all have', async () => {
    const { watch, asked } = watchOver();
    await watch.beat();
    const ofTenants = asked.filter(({ of }) => !of.startsWith('workspace'));
    expect(ofTenants.length).toBeGreaterThan(0);
    expect(ofTenants.length).toBeLessThan(slugs.length);
    expect(new Set(ofTenants.map(({ of, fromMs }) => `${of} ${fromMs}`)).size).toBe(ofTenants.length);
    expect(new Set(asked.map(({ toMs }) => toMs))).toEqual(new Set([Date.parse('2026-04-10T01:00:00.000Z')]));
  });

  it('tells a workspace of its own key that expires, and no other', async () => {
    const { watch, told } = watchOver();
    await watch.beat();
    expect(told).toEqual([`${slugs[1]} key.expiring`]);
  });
});
