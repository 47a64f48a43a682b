import type { ApiKeyRecord, Clock, ConfigSnapshot } from '@sluice/contracts';
import type { ConfigStore } from '../config/config-store.ts';
import type { MeterSums } from '../tenant/figures-reader.ts';
import { windowSpan } from '../tenant/quota-gauges.ts';
import type { AlertStore } from './alert-store.ts';
import { configConditions, quotaConditions, refusalConditions, windowsOf, type UsedWindow } from './conditions.ts';

/** From the end of one round over all workspaces to the next. */
const EVERY_MS = 15_000;
const HOUR_MS = 3_600_000;

export interface AlertWatch {
  /** Looks at every workspace when it is time, one after the other. Never throws. */
  beat(): Promise<void>;
  /** Looks at one workspace now. */
  look(slug: string): Promise<void>;
}

/** What is asked once for all workspaces of a round, however many there are. */
interface Round {
  /** What tenants have used, by tenant and start. */
  readonly ofTenants: Map<string, Promise<MeterSums>>;
  /** Keys that expire, by workspace. */
  readonly keys: ReadonlyMap<string, readonly ApiKeyRecord[]>;
}

function beginRound({ keys }: ConfigSnapshot): Round {
  return {
    ofTenants: new Map(),
    keys: Map.groupBy(
      Object.values(keys).filter(({ expiresAt }) => expiresAt !== undefined),
      ({ workspace }) => workspace,
    ),
  };
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

  async function look(slug: string, { ofTenants, keys }: Round): Promise<void> {
    const snapshot = store.snapshot();
    const workspace = snapshot.workspaces[slug];
    const tenant = workspace === undefined ? undefined : snapshot.tenants[workspace.tenant];
    const plan = tenant === undefined ? undefined : snapshot.plans[tenant.plan];
    if (workspace === undefined || tenant === undefined || plan === undefined) return;
    const nowMs = clock.now();
    // To the end of the hour, which rollups hold; of the part of an hour only rows tell, and those of all tenants
    // are read for a tenant's.
    const toMs = (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
    const used: UsedWindow[] = [];
    for (const { level, window } of windowsOf(tenant, workspace, plan)) {
      const { fromMs } = windowSpan(window, tenant.timeZone, nowMs);
      const id = `${tenant.id} ${fromMs}`;
      const asked =
        level === 'tenant'
          ? (ofTenants.get(id) ?? meters({ tenant: tenant.id }, fromMs, toMs))
          : meters({ workspace: slug }, fromMs, toMs);
      if (level === 'tenant') ofTenants.set(id, asked);
      used.push({ level, window, used: (await asked)[window.meter] });
    }
    const conditions = [
      ...quotaConditions(used, tenant.timeZone, nowMs),
      ...configConditions(
        snapshot,
        workspace,
        plan,
        keys.get(slug) ?? [],
        nowMs,
        (id) => store.rowVersion('killSwitches', id) ?? 0,
      ),
      ...refusalConditions(await alerts.refusals(slug, nowMs), nowMs),
    ];
    await alerts.update({ tenant: tenant.id, workspace: slug }, conditions, nowMs);
  }

  return {
    look: (slug) => look(slug, beginRound(store.snapshot())),
    beat: async () => {
      if (busy || store.version === 0 || clock.now() < dueMs) return;
      busy = true;
      try {
        // A workspace that cannot be looked at is no reason to tell the others nothing.
        const snapshot = store.snapshot();
        const round = beginRound(snapshot);
        for (const slug of Object.keys(snapshot.workspaces)) await look(slug, round).catch(onError);
      } finally {
        busy = false;
        dueMs = clock.now() + EVERY_MS;
      }
    },
  };
}
