import type { Clock } from '@sluice/contracts';
import type { Timers } from '@sluice/limits';
import type { CancelToken } from '../../cancel-token.ts';

/** After a body that took a millisecond to parse, its tenant's next one waits until this many have passed. */
const SPACING = 5;
/** Debt that a tenant may have before it waits, so that an occasional large body waits for nothing. */
const BURST_MS = 100;

/**
 * Shares the time that parsing takes. It comes before every limit, because limits need the model, and it stops the
 * whole process while it lasts; so a tenant that sends large bodies gets a fifth of the time at most, whatever
 * becomes of them.
 */
export interface ParseTurns {
  /** Waits for the tenant's turn; undefined when it may go on at once. Also resolves when the call is given up. */
  turn(tenantId: string, cancel: CancelToken): Promise<void> | undefined;
  /** Must follow every turn. @param ms what the parse took; 0 when there was none. */
  spent(tenantId: string, ms: number): void;
}

interface Tenant {
  /** Monotonic time up to which what was spent is paid off. */
  paidAt: number;
  /** In the order in which they came. */
  readonly waiting: Set<() => void>;
  timer: unknown;
}

const processTimers: Timers = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Turns in the order of arrival, each tenant on its own. What is kept is bounded by the tenants that exist. */
export function createParseTurns({ clock, timers = processTimers }: { clock: Clock; timers?: Timers }): ParseTurns {
  const tenants = new Map<string, Tenant>();

  function find(tenantId: string): Tenant {
    let tenant = tenants.get(tenantId);
    if (tenant === undefined) tenants.set(tenantId, (tenant = { paidAt: 0, waiting: new Set(), timer: undefined }));
    return tenant;
  }

  const waitMs = ({ paidAt }: Tenant): number => paidAt - BURST_MS - clock.monotonic();

  /** One at a time: the next one's wait depends on what this one spends. */
  function arm(tenant: Tenant): void {
    if (tenant.timer !== undefined || tenant.waiting.size === 0) return;
    tenant.timer = timers.setTimeout(
      () => {
        tenant.timer = undefined;
        const [first] = tenant.waiting;
        if (first === undefined) return;
        if (waitMs(tenant) > 0) arm(tenant);
        else first();
      },
      Math.max(0, waitMs(tenant)),
    );
  }

  return {
    turn(tenantId, cancel) {
      const tenant = find(tenantId);
      if (tenant.waiting.size === 0 && waitMs(tenant) <= 0) return undefined;
      return new Promise((resolve) => {
        let unsubscribe: () => void = () => undefined;
        const go = (): void => {
          unsubscribe();
          tenant.waiting.delete(go);
          resolve();
        };
        tenant.waiting.add(go);
        arm(tenant);
        unsubscribe = cancel.onCancel(go);
      });
    },
    spent(tenantId, ms) {
      const tenant = find(tenantId);
      tenant.paidAt = Math.max(tenant.paidAt, clock.monotonic()) + ms * SPACING;
      arm(tenant);
    },
  };
}
