import { isDeepStrictEqual } from 'node:util';
import { OVERAGE_WINDOW, Tenant, type Clock } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import type { Billing } from './billing.ts';

/**
 * Looked at again this often, for the turn of a month and a first call; a change of the configuration is looked at
 * one beat later.
 */
const EVERY_MS = 60_000;

/**
 * Keeps each tenant's quota window of the overage cap what plan, cap and month make it, so that gateways enforce
 * what the statement promises, whoever changed plan or tenant.
 */
export interface CapKeeper {
  /** The tenant with its window as it has to be in the month of an instant. */
  withWindow(tenant: Tenant, nowMs: number): Promise<Tenant>;
  /** Writes what differs. Never throws. */
  beat(): Promise<void>;
}

export function createCapKeeper({
  store,
  billing,
  clock,
  onError,
}: {
  store: ConfigStore;
  billing: Billing;
  clock: Pick<Clock, 'now'>;
  onError: (error: unknown) => void;
}): CapKeeper {
  let dueMs = 0;
  let seenVersion = 0;
  let busy = false;

  async function withWindow(tenant: Tenant, nowMs: number): Promise<Tenant> {
    const window = await billing.capWindow(tenant, nowMs);
    const quotas = tenant.limits.quotas.filter(({ id }) => id !== OVERAGE_WINDOW);
    return Tenant.parse({
      ...tenant,
      limits: { ...tenant.limits, quotas: window === undefined ? quotas : [...quotas, window] },
    });
  }

  async function keep(tenant: Tenant): Promise<void> {
    const version = store.rowVersion('tenants', tenant.id);
    const wanted = await withWindow(tenant, clock.now());
    if (version === undefined || isDeepStrictEqual(windowOf(wanted), windowOf(tenant))) return;
    await store.change({
      changes: [{ table: 'tenants', id: tenant.id, value: wanted, ifVersion: version }],
      audit: () => [
        {
          type: 'tenant.cap_derived',
          actor: { kind: 'service', id: 'control-plane' },
          target: { kind: 'tenants', id: tenant.id },
          tenant_id: tenant.id,
          before: windowOf(tenant),
          after: windowOf(wanted),
        },
      ],
    });
  }

  return {
    withWindow,
    beat: async () => {
      if (busy || store.version === 0 || (store.version === seenVersion && clock.now() < dueMs)) return;
      busy = true;
      seenVersion = store.version;
      try {
        for (const tenant of Object.values(store.snapshot().tenants)) {
          // Who changed the row meanwhile is looked at in the next round. A tenant whose window cannot be made must
          // not keep the others from theirs.
          await keep(tenant).catch((error: unknown) => {
            if (!(error instanceof ProblemError && error.status === 412)) onError(error);
          });
        }
      } finally {
        busy = false;
        dueMs = clock.now() + EVERY_MS;
      }
    },
  };
}

const windowOf = ({ limits }: Tenant) => limits.quotas.find(({ id }) => id === OVERAGE_WINDOW) ?? null;
