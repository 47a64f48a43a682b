import { createFakeClock, type FakeClock } from '@sluice/testing';
import type { AuditInput } from '../config/config-repository.ts';
import { startTestPlane } from '../testing/start-test-plane.ts';
import { createAuditExports, type AuditExports } from './audit-exports.ts';
import { createMemoryExportSpine, type MemoryExportSpine } from './memory-export-spine.ts';

let clock: FakeClock;
let spine: MemoryExportSpine;
let wanted: string[] | undefined;
let audited: AuditInput[];
let errors: unknown[];
let exports: AuditExports;

beforeEach(() => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  spine = createMemoryExportSpine();
  wanted = ['acme'];
  audited = [];
  errors = [];
  exports = createAuditExports({
    wanted: () => wanted,
    spine,
    clock,
    audit: { record: async (input) => void audited.push(input) },
    onError: (error) => void errors.push(error),
  });
});

async function after(ms: number): Promise<void> {
  clock.advance(ms);
  await exports.reconcile();
}
const stateOf = (tenant: string) => exports.list.find((one) => one.tenant === tenant);

describe('an audit export that is wanted', () => {
  it('is made once, with its retention stated', async () => {
    await exports.reconcile();
    await exports.reconcile();
    expect(exports.list).toEqual([
      expect.objectContaining({
        tenant: 'acme',
        queue: 'acme-audit-export',
        dlq: 'acme-audit-export-dlq',
        state: 'active',
        retention_s: 1_209_600,
        detail: expect.stringContaining('14 days'),
      }),
    ]);
    expect(audited.map(({ type, tenant_id }) => [type, tenant_id])).toEqual([['audit_export.provisioned', 'acme']]);
  });

  it('is made again when the emulator has lost its queues, or the queue its subscription', async () => {
    await exports.reconcile();
    spine.queues.clear();
    await exports.reconcile();
    expect(spine.queues.get('acme')?.subscribed).toBe(true);
    spine.set('acme', { subscribed: false });
    await exports.reconcile();
    expect(spine.queues.get('acme')?.subscribed).toBe(true);
  });

  it('is pending, and said to be, while the spine does not answer; one error is told, not one for each try', async () => {
    spine.setDown(true);
    await exports.reconcile();
    await exports.reconcile();
    expect(errors).toHaveLength(1);
    expect(exports.problems).toEqual([expect.stringContaining('could not be brought in step')]);
    spine.setDown(false);
    await exports.reconcile();
    expect([exports.problems, stateOf('acme')?.state]).toEqual([[], 'active']);
  });

  it('does not wait for another one that fails', async () => {
    wanted = ['acme', 'globex'];
    const provision = spine.provision;
    spine.provision = async (tenant) =>
      tenant === 'acme' ? Promise.reject(new Error('QueueDeletedRecently')) : provision(tenant);
    await exports.reconcile();
    expect(exports.list.map(({ tenant, state }) => [tenant, state])).toEqual([
      ['acme', 'pending'],
      ['globex', 'active'],
    ]);
  });
});

describe('an audit export that is switched off', () => {
  beforeEach(async () => {
    await exports.reconcile();
    wanted = [];
  });

  it('receives nothing new at once, and stays while records wait, are in flight or are dead-lettered, and says so', async () => {
    for (const depth of [
      { waiting: 2, in_flight: 1, dlq_depth: 1 },
      { waiting: 0, in_flight: 1, dlq_depth: 0 },
      { waiting: 0, in_flight: 0, dlq_depth: 3 },
    ]) {
      spine.set('acme', depth);
      await after(3_600_000);
      expect(spine.queues.get('acme')?.subscribed).toBe(false);
      const left = depth.waiting + depth.in_flight + depth.dlq_depth;
      expect(stateOf('acme')).toMatchObject({
        state: 'draining',
        ...depth,
        detail: expect.stringContaining(`not removed yet: ${left} records were not read`),
      });
      expect(exports.problems).toEqual([
        expect.stringContaining('Audit export of acme: Switched off. It is not removed yet'),
      ]);
    }
  });

  it('is removed when it has been empty for a minute, not before', async () => {
    spine.set('acme', { waiting: 1 });
    await exports.reconcile();
    spine.set('acme', { waiting: 0 });
    await after(1_000);
    await after(59_000);
    expect(stateOf('acme')?.state).toBe('draining');
    await after(1_000);
    expect(spine.queues.has('acme')).toBe(false);
    expect(exports.list).toEqual([]);
    expect(audited.map(({ type }) => type)).toEqual([
      'audit_export.provisioned',
      'audit_export.draining',
      'audit_export.removed',
    ]);
  });

  it('begins to wait anew when a late record arrives', async () => {
    await exports.reconcile();
    await after(59_000);
    spine.set('acme', { waiting: 1 });
    await after(1_000);
    spine.set('acme', { waiting: 0 });
    await after(1_000);
    await after(59_000);
    expect(spine.queues.has('acme')).toBe(true);
  });

  it('is not removed while it holds a record that no count shows', async () => {
    spine.set('acme', { hidden: true });
    await exports.reconcile();
    await after(61_000);
    expect(stateOf('acme')).toMatchObject({
      state: 'draining',
      detail: expect.stringContaining('that SQS does not count'),
    });
    expect(spine.queues.has('acme')).toBe(true);
  });

  it('keeps its records when it is switched on again', async () => {
    spine.set('acme', { waiting: 5 });
    await exports.reconcile();
    wanted = ['acme'];
    await exports.reconcile();
    expect(spine.queues.get('acme')).toMatchObject({ subscribed: true, waiting: 5 });
    expect(stateOf('acme')?.state).toBe('active');
  });

  it('is not touched while the configuration is not known', async () => {
    wanted = undefined;
    await after(3_600_000);
    expect(spine.queues.get('acme')?.subscribed).toBe(true);
  });
});

describe('the control plane', () => {
  it("makes a tenant's export within a beat of the change of its plan, shows it, and refuses an id that cannot name a queue", async () => {
    const own = createMemoryExportSpine();
    const test = await startTestPlane({ exportSpine: own });
    try {
      await test.plane.beat();
      const { plans, tenants } = test.plane.store.snapshot();
      const tenant = Object.values(tenants)[0];
      const plan = plans[tenant?.plan ?? ''];
      if (tenant === undefined || plan === undefined) throw new Error('the demo has no tenant');
      expect(own.queues.has(tenant.id)).toBe(false);
      const on = { ...plan, policy: { ...plan.policy, auditExport: true } };
      expect((await test.call('PUT', `/api/plans/${plan.id}`, on, { 'if-match': '*' })).status).toBe(200);
      await test.plane.beat();
      const shown = (await (await test.call('GET', '/api/exports')).json()) as { tenant: string; state: string }[];
      expect(shown.find((one) => one.tenant === tenant.id)?.state).toBe('active');
      const bad = await test.call('PUT', '/api/tenants/a.b', { ...tenant, id: 'a.b', name: 'Dotted' });
      expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining('cannot name an export queue')]);
      expect((await test.call('PUT', `/api/plans/${plan.id}`, { ...plan }, { 'if-match': '*' })).status).toBe(200);
      own.set(tenant.id, { waiting: 1 });
      await test.plane.beat();
      expect(test.plane.state().problems).toEqual(
        expect.arrayContaining([expect.stringContaining(`Audit export of ${tenant.id}: Switched off`)]),
      );
    } finally {
      await test.close();
    }
  });
});
