import type { Clock } from '@sluice/contracts';
import type { ConfigStore } from '../config/config-store.ts';
import type { MeterSums } from '../tenant/figures-reader.ts';
import { windowSpan } from '../tenant/quota-gauges.ts';
import type { AlertStore } from './alert-store.ts';
import { configConditions, quotaConditions, refusalConditions, windowsOf, type UsedWindow } from './conditions.ts';

/** From the end of one round over all workspaces to the next. */
const EVERY_MS = 15_000;

export interface AlertWatch {
  /** Looks at every workspace when it is time, one after the other. Never throws. */
  beat(): Promise<void>;
  /** Looks at one workspace now. */
  look(slug: string): Promise<void>;
}

/** Compares every workspace with what its people want to be told of. */
export function createAlertWatch(deps: {
  store: ConfigStore;
  alerts: AlertStore;
  meters: (scope: { tenant?: string; workspace?: string }, fromMs: number, toMs: number) => Promise<MeterSums>;
  clock: Pick<Clock, 'now'>;
  onError: (error: unknown) => void;
}): AlertWatch {
  const { store, alerts, meters, clock, onError } = deps;
  let dueMs = 0;
  let busy = false;

  async function look(slug: string): Promise<void> {
    const snapshot = store.snapshot();
    const workspace = snapshot.workspaces[slug];
    const tenant = workspace === undefined ? undefined : snapshot.tenants[workspace.tenant];
    const plan = tenant === undefined ? undefined : snapshot.plans[tenant.plan];
    if (workspace === undefined || tenant === undefined || plan === undefined) return;
    const nowMs = clock.now();
    const used: UsedWindow[] = [];
    for (const { level, window } of windowsOf(tenant, workspace, plan)) {
      const { fromMs } = windowSpan(window, tenant.timeZone, nowMs);
      const sums = await meters(level === 'tenant' ? { tenant: tenant.id } : { workspace: slug }, fromMs, nowMs + 1);
      used.push({ level, window, used: sums[window.meter] });
    }
    const conditions = [
      ...quotaConditions(used, tenant.timeZone, nowMs),
      ...configConditions(snapshot, workspace, plan, nowMs, (id) => store.rowVersion('killSwitches', id) ?? 0),
      ...refusalConditions(await alerts.refusals(slug, nowMs), nowMs),
    ];
    await alerts.update({ tenant: tenant.id, workspace: slug }, conditions, nowMs);
  }

  return {
    look,
    beat: async () => {
      if (busy || store.version === 0 || clock.now() < dueMs) return;
      busy = true;
      try {
        // A workspace that cannot be looked at is no reason to tell the others nothing.
        for (const slug of Object.keys(store.snapshot().workspaces)) await look(slug).catch(onError);
      } finally {
        busy = false;
        dueMs = clock.now() + EVERY_MS;
      }
    },
  };
}
