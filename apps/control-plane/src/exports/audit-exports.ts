import { exportQueue, type AuditExport, type Clock } from '@sluice/contracts';
import type { AuditTrail } from '../api/ports.ts';
import type { ExportDepth, ExportSpine } from './export-spine.ts';

/** Audit exports as the configuration wants them. */
export interface AuditExports {
  /**
   * Makes what is missing, ends what is no longer wanted. Never throws, and does nothing while it is at work
   * already.
   */
  reconcile(): Promise<void>;
  /** By tenant, as the last `reconcile` left them. */
  readonly list: readonly AuditExport[];
  /** What an operator should know: exports that wait for their customer, or for the spine. */
  readonly problems: readonly string[];
}

/** SQS needs up to a minute until its counts are true, and SNS may still be delivering what was published before. */
const SETTLE_MS = 60_000;
const NOTHING: ExportDepth = { waiting: 0, in_flight: 0, dlq_depth: 0 };

/**
 * Keeps the tenants' export queues in step with the configuration. A queue that is no longer wanted receives
 * nothing new and stays until its tenant has read all of it: it goes only after its counts were zero for a minute
 * and a look into it found nothing. The attributes of queues that exist are left as they are; `make verify` names
 * differences.
 *
 * @param wanted tenants that export, or undefined while the configuration is not known: nothing is touched then.
 */
export function createAuditExports(deps: {
  wanted: () => readonly string[] | undefined;
  spine: ExportSpine;
  clock: Clock;
  audit: AuditTrail;
  onError: (error: unknown) => void;
  settleMs?: number;
}): AuditExports {
  const { wanted, spine, clock, audit, onError, settleMs = SETTLE_MS } = deps;
  /** Since when a queue that drains is empty. */
  const emptySinceMs = new Map<string, number>();
  let list: readonly AuditExport[] = [];
  let busy = false;
  let failing = false;

  const record = (tenant: string, type: string, reason: string): Promise<void> =>
    audit
      .record({
        type,
        actor: { kind: 'service', id: 'control-plane' },
        target: { kind: 'queue', id: exportQueue(tenant).name },
        tenant_id: tenant,
        reason,
      })
      .catch(onError);

  /** @returns undefined when the queue is gone. */
  async function drain(tenant: string, subscribed: boolean): Promise<AuditExport | undefined> {
    if (subscribed) {
      await spine.unsubscribe(tenant);
      emptySinceMs.delete(tenant);
      await record(
        tenant,
        'audit_export.draining',
        'the export was switched off: nothing new arrives, the queue stays until it was read',
      );
    }
    const depth = await spine.depth(tenant);
    const left = depth.waiting + depth.in_flight + depth.dlq_depth;
    if (left > 0) {
      emptySinceMs.delete(tenant);
      return show(
        tenant,
        'draining',
        depth,
        `Switched off. It is not removed yet: ${left} records were not read (${depth.dlq_depth} of them in ${exportQueue(tenant).dlq}).`,
      );
    }
    const since = emptySinceMs.get(tenant) ?? clock.now();
    emptySinceMs.set(tenant, since);
    const remaining = settleMs - (clock.now() - since);
    if (remaining > 0)
      return show(
        tenant,
        'draining',
        depth,
        `Switched off and empty. It is removed when it has stayed empty for another ${Math.ceil(remaining / 1000)} s.`,
      );
    if (await spine.holdsMessage(tenant)) {
      emptySinceMs.delete(tenant);
      return show(
        tenant,
        'draining',
        depth,
        'Switched off. It is not removed yet: a record was found in it that SQS does not count.',
      );
    }
    if (wanted()?.includes(tenant) !== false) return show(tenant, 'pending', depth, 'Switched on again.');
    await spine.remove(tenant);
    emptySinceMs.delete(tenant);
    await record(tenant, 'audit_export.removed', 'the export was switched off and all of its records were read');
    return undefined;
  }

  async function keep(tenant: string, there: boolean): Promise<AuditExport> {
    emptySinceMs.delete(tenant);
    if (!there) {
      await spine.provision(tenant);
      await record(tenant, 'audit_export.provisioned', 'the export was switched on');
    }
    return show(
      tenant,
      'active',
      await spine.depth(tenant),
      'Records arrive. One that is not read within 14 days is in the audit log only.',
    );
  }

  async function pass(tenants: readonly string[]): Promise<void> {
    const [existing, subscribed] = await Promise.all([spine.existing(), spine.subscribed()]);
    const next = new Map(
      list
        .filter(({ tenant }) => tenants.includes(tenant) || existing.includes(tenant))
        .map((one) => [one.tenant, one]),
    );
    for (const tenant of tenants)
      if (!next.has(tenant)) next.set(tenant, show(tenant, 'pending', NOTHING, 'The queue is being made.'));
    const failures: unknown[] = [];
    for (const tenant of new Set([...tenants, ...existing])) {
      try {
        const state = tenants.includes(tenant)
          ? await keep(tenant, existing.includes(tenant) && subscribed.includes(tenant))
          : await drain(tenant, subscribed.includes(tenant));
        if (state === undefined) next.delete(tenant);
        else next.set(tenant, state);
      } catch (error) {
        failures.push(error);
      }
    }
    list = [...next.values()].toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1));
    if (failures.length > 0) throw failures[0];
  }

  return {
    reconcile: async () => {
      const tenants = wanted();
      if (busy || tenants === undefined) return;
      busy = true;
      try {
        await pass(tenants);
        failing = false;
      } catch (error) {
        if (!failing) onError(error);
        failing = true;
      } finally {
        busy = false;
      }
    },
    get list() {
      return list;
    },
    get problems() {
      return [
        ...(failing ? ['Audit exports could not be brought in step with the configuration; tried again.'] : []),
        ...list
          .filter(({ state }) => state === 'draining')
          .map(({ tenant, detail }) => `Audit export of ${tenant}: ${detail}`),
      ];
    },
  };
}

function show(
  tenant: string,
  state: AuditExport['state'],
  { waiting, in_flight, dlq_depth }: ExportDepth,
  detail: string,
): AuditExport {
  const { name, dlq, retentionS } = exportQueue(tenant);
  return { tenant, queue: name, dlq, state, waiting, in_flight, dlq_depth, retention_s: retentionS, detail };
}
