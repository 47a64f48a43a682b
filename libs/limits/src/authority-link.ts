import type { LimitStoreStatus } from '@sluice/contracts';
import type { Authority } from './authority.ts';
import { TenantFault } from './tenant-fault.ts';
import { createSettledTrack, type SettledTrack } from './settled-track.ts';
import { TierTenant } from './tier-tenant.ts';
import type { TierOptions } from './tier-options.ts';
import type { Timers } from './slot-pool.ts';

/** How long the first admission waits for the first connection. */
const FIRST_CONNECTION_MS = 1_000;
/** Tenants that are reconciled or kept alive at the same time. */
const TENANTS_AT_ONCE = 16;
/** A tenant that was heard of so lately needs no sign of its own. */
const HEARD_LATELY_PART = 0.2;

const backgroundTimers: Timers = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs).unref(),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/**
 * The connection of one gateway to the authority: whether it holds, what must be told, and the way back after a
 * loss.
 */
export interface AuthorityLink {
  readonly status: LimitStoreStatus;
  /** Until the first connection stands or is given up. */
  readonly starting: Promise<void> | undefined;
  /** Gateways of the cell that were alive when last asked, this one included. */
  readonly gateways: number;
  /** The calls that were settled at this gateway. */
  readonly settled: SettledTrack;
  tenant(id: string): TierTenant;
  /** The best guess of the authority's time, epoch milliseconds. */
  serverNow(): number;
  /** Exchanges with the authority that were begun. */
  exchanges(): number;
  /** Resolves when no exchange is under way. */
  quiet(): Promise<void>;
  heartbeat(): Promise<void>;
  close(): Promise<void>;
}

export function createAuthorityLink(authority: Authority, options: TierOptions): AuthorityLink {
  const {
    clock,
    leaseShare = 0.1,
    livenessMs = 10_000,
    flushMs = 250,
    idleMs = 1_000,
    reconnectJitterMs = 1_000,
    timers = backgroundTimers,
    random = Math.random,
    onStatus,
    onTenantFault,
  } = options;
  const tenants = new Map<string, TierTenant>();
  const settled = createSettledTrack();
  let offsetMs = clock.now() - clock.monotonic();
  let gateways = 1;
  let degradedSinceMs: number | undefined = clock.now();
  let closed = false;
  /** Grows with each loss, so that a way back which a loss has overtaken ends. */
  let losses = 0;
  let comingBack = false;
  let sweeping = false;
  let retryTimer: unknown;
  let tickTimer: unknown;
  let finishStart: () => void = () => undefined;
  let starting: Promise<void> | undefined = new Promise((resolve) => {
    finishStart = () => {
      starting = undefined;
      timers.clearTimeout(startTimer);
      resolve();
    };
  });
  const startTimer = timers.setTimeout(() => finishStart(), FIRST_CONNECTION_MS);

  const lost = (error: unknown): void => {
    losses++;
    comingBack = false;
    const wasConnected = degradedSinceMs === undefined;
    degradedSinceMs ??= clock.now();
    for (const tenant of tenants.values()) tenant.abandon();
    finishStart();
    if (closed) return;
    if (wasConnected) onStatus?.({ state: 'degraded', sinceMs: degradedSinceMs }, error);
    if (authority.ready) authority.reconnect();
  };

  /** Runs `work` for all tenants, a few at a time. */
  const forTenants = async (
    list: readonly TierTenant[],
    work: (tenant: TierTenant) => Promise<void>,
  ): Promise<void> => {
    for (let i = 0; i < list.length; i += TENANTS_AT_ONCE)
      await Promise.all(list.slice(i, i + TENANTS_AT_ONCE).map(work));
  };

  /** Tells the authority everything of a tenant that is held here or was used meanwhile. */
  const reconcile = async (tenant: TierTenant): Promise<void> => {
    for (const level of tenant.active) level.dirty = true;
    tenant.online = true;
    await tenant.drain();
  };

  const comeBack = async (): Promise<void> => {
    if (comingBack || closed) return;
    comingBack = true;
    const loss = losses;
    try {
      gateways = await authority.register(true);
      await forTenants(
        [...tenants.values()].filter((tenant) => tenant.active.size > 0),
        async (tenant) => {
          if (loss === losses) await reconcile(tenant);
        },
      );
    } catch (error) {
      if (loss === losses) lost(error);
      return;
    }
    if (loss !== losses || closed) return;
    comingBack = false;
    degradedSinceMs = undefined;
    for (const tenant of tenants.values()) if (tenant.retryAtMs === Infinity) tenant.online = true;
    finishStart();
    onStatus?.({ state: 'connected' });
  };

  const tick = (): void => {
    tickTimer = timers.setTimeout(tick, flushMs);
    // On the way back everything is told anyhow, and a sweep that takes longer than the time between two is not
    // doubled.
    if (sweeping || degradedSinceMs !== undefined) return;
    const nowMs = clock.monotonic();
    const due: TierTenant[] = [];
    for (const tenant of tenants.values()) {
      if (!tenant.online && tenant.retryAtMs <= nowMs) {
        tenant.retryAtMs = Infinity;
        void reconcile(tenant);
        continue;
      }
      // What an exchange under way will bring is not known yet; its end looks for what is to be told.
      if (tenant.active.size === 0 || !tenant.online || tenant.busy) continue;
      for (const level of tenant.active) {
        if (!level.dirty && level.hasFree && nowMs - level.usedAtMs > idleMs) level.dirty = level.handIn = true;
        if (!level.holds) tenant.active.delete(level);
      }
      if (tenant.hasToTell) due.push(tenant);
    }
    if (due.length === 0) return;
    sweeping = true;
    void forTenants(due, (tenant) => tenant.flush()).finally(() => {
      sweeping = false;
    });
  };
  tickTimer = timers.setTimeout(tick, flushMs);

  authority.watch({
    ready() {
      timers.clearTimeout(retryTimer);
      retryTimer = timers.setTimeout(() => void comeBack(), starting === undefined ? random() * reconnectJitterMs : 0);
    },
    lost,
  });

  const deps = {
    clock,
    send: authority.exchange,
    counted: authority.counted,
    settled,
    leaseShare,
    livenessMs,
    serverNow: () => clock.monotonic() + offsetMs,
    heardServerTime(serverNowMs: number): void {
      offsetMs = serverNowMs - clock.monotonic();
    },
    lost,
    broken: (tenantId: string, error: TenantFault): void => onTenantFault?.(tenantId, error),
  };

  return {
    settled,
    get status(): LimitStoreStatus {
      return degradedSinceMs === undefined ? { state: 'connected' } : { state: 'degraded', sinceMs: degradedSinceMs };
    },
    get starting() {
      return starting;
    },
    get gateways() {
      return gateways;
    },
    tenant(id) {
      let tenant = tenants.get(id);
      if (tenant === undefined) {
        tenant = new TierTenant(id, deps);
        tenant.online = degradedSinceMs === undefined;
        tenants.set(id, tenant);
      }
      return tenant;
    },
    serverNow: deps.serverNow,
    exchanges: () => [...tenants.values()].reduce((sum, { exchanges }) => sum + exchanges, 0),
    async quiet() {
      for (const tenant of tenants.values()) await tenant.quiet();
    },
    async heartbeat() {
      if (degradedSinceMs !== undefined) return;
      try {
        gateways = await authority.register(true);
        const sinceMs = clock.monotonic() - livenessMs * HEARD_LATELY_PART;
        const quiet = [...tenants.values()].filter(
          (tenant) => tenant.online && tenant.active.size > 0 && tenant.heardAtMs < sinceMs,
        );
        await forTenants(quiet, async (tenant) => {
          const sentAtMs = clock.monotonic();
          let kept: boolean;
          try {
            kept = await authority.touch(tenant.id);
          } catch (error) {
            if (!(error instanceof TenantFault)) throw error;
            tenant.degrade(error);
            return;
          }
          if (kept) {
            tenant.heardAtMs = sentAtMs;
            tenant.validUntilMs = Math.max(tenant.validUntilMs, sentAtMs + livenessMs);
            return;
          }
          for (const level of tenant.active) level.dirty = true;
          await tenant.drain();
        });
      } catch (error) {
        lost(error);
      }
    },
    async close() {
      if (closed) return;
      timers.clearTimeout(tickTimer);
      timers.clearTimeout(retryTimer);
      finishStart();
      if (degradedSinceMs === undefined) {
        try {
          await forTenants(
            [...tenants.values()].filter((tenant) => tenant.active.size > 0),
            async (tenant) => {
              for (const level of tenant.active) level.dirty = level.handIn = true;
              await tenant.drain();
            },
          );
          await authority.register(false);
        } catch {
          // What is held expires with this gateway's liveness.
        }
      }
      closed = true;
      await authority.close();
    },
  };
}
