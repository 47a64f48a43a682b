import type { ConfigSnapshot, QuotaWindow } from '@sluice/contracts';
import { applySeed } from '../config/apply-seed.ts';
import { emptySnapshot } from '../config/config-rows.ts';
import { applyPatch } from '@sluice/contracts';
import { demoSeed } from '../testing/demo-seed.ts';
import { configConditions, quotaConditions, refusalConditions, windowsOf } from './conditions.ts';

const NOW = Date.parse('2026-04-10T00:00:00.000Z');
const month: QuotaWindow = {
  id: 'month',
  meter: 'total_tokens',
  span: { kind: 'calendar', period: 'month' },
  limit: 1000,
  mode: 'hard',
  alertAtPercent: [80, 100],
};
const kinds = (used: number, window = month, nowMs = NOW) =>
  quotaConditions([{ level: 'tenant', window, used }], 'UTC', nowMs).map(({ kind }) => kind);

describe('what a quota has to tell', () => {
  it('is its thresholds, and little left with more than half of the time to go', () => {
    expect(kinds(799)).toEqual([]);
    expect(kinds(800)).toEqual(['budget.80']);
    expect(kinds(810)).toEqual(['budget.80', 'quota.low']);
    expect(kinds(810, month, Date.parse('2026-04-20T00:00:00.000Z'))).toEqual(['budget.80']);
    expect(kinds(1000)).toEqual(['budget.100', 'budget.80']);
    expect(kinds(1000, { ...month, id: 'overage-cap' })).toEqual(['overage_cap.100', 'overage_cap.80']);
  });

  it('is another case in another month, and the same one within it', () => {
    const id = (nowMs: number) =>
      quotaConditions([{ level: 'tenant', window: month, used: 800 }], 'UTC', nowMs)[0]?.dedupe;
    expect(id(NOW)).toBe(id(NOW + 86_400_000));
    expect(id(NOW)).not.toBe(id(NOW + 25 * 86_400_000));
  });
});

describe('what the configuration has to tell', () => {
  const seed = demoSeed();
  const base = applyPatch({ ...emptySnapshot(1), version: 0 } as ConfigSnapshot, {
    ...applySeed(seed, '2026-01-01T00:00:00.000Z').patch,
    version: 1,
  });
  const find = (change: Partial<ConfigSnapshot>, slug = 'acme-prod') => {
    const snapshot = { ...base, ...change };
    const workspace = snapshot.workspaces[slug];
    const plan = snapshot.plans[snapshot.tenants[workspace?.tenant ?? '']?.plan ?? ''];
    if (workspace === undefined || plan === undefined) throw new Error('the seed has changed');
    return configConditions(
      snapshot,
      workspace,
      plan,
      Object.values(snapshot.keys).filter((key) => key.workspace === slug),
      NOW,
      () => 7,
    );
  };

  it('is a kill switch that the workspace can meet, and none of another workspace', () => {
    const killSwitches: ConfigSnapshot['killSwitches'] = {
      own: { id: 'own', scope: 'workspace', target: 'acme-prod', message: 'abuse', retryAfterSeconds: 60 },
      other: {
        id: 'other',
        scope: 'workspace',
        target: 'initech-prod',
        message: 'secret of initech',
        retryAfterSeconds: 60,
      },
    };
    expect(find({ killSwitches }).map(({ dedupe, severity }) => [dedupe, severity])).toEqual([
      ['kill_switch/own/7', 'critical'],
    ]);
    expect(JSON.stringify(find({ killSwitches }))).not.toContain('initech');
  });

  it('is a key of its own that expires within a week, and a model that is retired within a month', () => {
    const key = base.keys['acmeKey00001'];
    const model = base.models['sim-small'];
    if (key === undefined || model === undefined) throw new Error('the seed has changed');
    const soon = '2026-04-12T00:00:00.000Z';
    const keys = { ...base.keys, acmeKey00001: { ...key, expiresAt: soon } };
    expect(find({ keys }).map(({ kind }) => kind)).toEqual(['key.expiring']);
    expect(find({ keys }, 'initech-prod')).toEqual([]);
    expect(find({ keys: { ...keys, acmeKey00001: { ...key, expiresAt: '2026-06-12T00:00:00.000Z' } } })).toEqual([]);
    expect(
      find({
        models: { ...base.models, 'sim-small': { ...model, retirement: { at: soon, successor: 'sim-large' } } },
      }).map(({ message }) => message),
    ).toEqual([`The model sim-small is retired at ${soon}. Its successor is sim-large.`]);
  });

  it('covers the windows of tenant and workspace', () => {
    const workspace = base.workspaces['acme-prod'];
    const [tenant, plan] = [base.tenants['acme'], base.plans['enterprise']];
    if (workspace === undefined || tenant === undefined || plan === undefined) throw new Error('the seed has changed');
    const limited = { ...tenant, limits: { ...tenant.limits, quotas: [month] } };
    expect(
      windowsOf(limited, { ...workspace, override: { limits: { quotas: [month] } } }, plan).map(({ level }) => level),
    ).toEqual(['tenant', 'workspace']);
  });
});

describe('refusals', () => {
  it('are told from twenty a minute on, once an hour for each limit', () => {
    const told = (count: number, nowMs = NOW) =>
      refusalConditions([{ kind: 'refusals.throttled', subject: 'tenant requests', count }], nowMs);
    expect(told(19)).toEqual([]);
    expect(told(20)).toHaveLength(1);
    expect(told(20)[0]?.dedupe).toBe(told(90, NOW + 60_000)[0]?.dedupe);
    expect(told(20)[0]?.dedupe).not.toBe(told(20, NOW + 3_600_000)[0]?.dedupe);
  });
});
