import {
  inputTokens,
  outputTokens,
  type AdmissionLease,
  type AdmitResult,
  type LimitRefusal,
  type LimitStore,
  type LimitsView,
} from '@sluice/contracts';
import { meterUnits, refuseByBulkhead, refuseByQuota, refuseByRate } from './admission.ts';
import type { Authority } from './authority.ts';
import { createAuthorityLink } from './authority-link.ts';
import { viewOf } from './limits-view.ts';
import {
  fitsLocally,
  quotasFit,
  requestFits,
  shareQuotaRefusal,
  shareRateRefusal,
  shareRefusal,
  takeLocally,
} from './local-admission.ts';
import { levelsWithWindows } from './level-audit.ts';
import { enterShare, fillShare } from './local-share.ts';
import { checkpointOf, createRestoredWindows } from './quota-checkpoint.ts';
import { createScopes, type CompiledScope } from './scopes.ts';
import { createTierAudit } from './tier-audit.ts';
import { ASK, VERDICT, type Ask } from './tier-exchange.ts';
import { TierLease } from './tier-lease.ts';
import { TierLevel } from './tier-level.ts';
import type { TierOptions } from './tier-options.ts';
import type { TierTenant } from './tier-tenant.ts';
import type { WindowLoan } from './window-loan.ts';

/** A level whose owner can be asked for an exchange. */
type TenantLevel = TierLevel<TierTenant>;

export type { TierOptions } from './tier-options.ts';

/** A store in front of an authority that several gateways share. */
export interface TierLimitStore extends LimitStore {
  readonly kind: 'valkey';
  /**
   * Admissions that were decided here and requests that waited for the authority, exchanges in all (those in the
   * background too), and how many gateways were alive when last asked.
   */
  readonly stats: {
    readonly local: number;
    readonly remote: number;
    readonly exchanges: number;
    readonly gateways: number;
  };
  /** Resolves when no exchange is under way. */
  quiet(): Promise<void>;
}

/**
 * Admits from what the authority lent to this gateway, and asks it otherwise; a refusal is always the authority's.
 * When it cannot be asked, this gateway's share of each limit (limit ÷ gateways last known) decides.
 *
 * Overshoot: quotas and bulkheads never, because what is lent is counted as taken. A bucket of size B that G
 * gateways share admits in any time t at most B + rate × t + G × floor(B × leaseShare): what was lent before may be
 * spent within it.
 */
export function createTierLimitStore(authority: Authority, options: TierOptions): TierLimitStore {
  const { clock, leaseShare = 0.1 } = options;
  const restored = createRestoredWindows();
  const link = createAuthorityLink(authority, options);
  const stats = { local: 0, remote: 0 };
  const { states, find, compile, forgetIdle } = createScopes<TenantLevel>({
    create: (level, id, tenantId) => new TierLevel(level, id, link.tenant(tenantId)),
    now: link.serverNow,
    monotonic: () => clock.monotonic(),
    pending: restored.take,
  });

  const audits = createTierAudit(authority, link.serverNow);

  const viewAt = (levels: readonly TenantLevel[], monotonicMs: number): LimitsView =>
    viewOf(levels, link.serverNow(), monotonicMs);

  /** True when all of these levels were lent something, or have a share, that still holds. */
  const lent = (tenant: TierTenant, levels: readonly TenantLevel[], monotonicMs: number): boolean => {
    if (!tenant.online) {
      for (const level of levels) {
        if (!level.share) enterShare(level, link.gateways, link.serverNow(), monotonicMs);
        else fillShare(level, link.gateways, link.serverNow(), monotonicMs);
        tenant.active.add(level);
      }
      return true;
    }
    if (leaseShare === 0 || monotonicMs >= tenant.validUntilMs) return false;
    for (const { loaded, share } of levels) if (!loaded || share) return false;
    return true;
  };

  const ask = (
    kind: Ask,
    levels: readonly TenantLevel[],
    input: number,
    output: number,
    cost: number,
  ): Promise<number | 'lost'> => {
    stats.remote++;
    return new Promise((decided) =>
      (levels[0] as TenantLevel).tenant.ask({ ask: kind, levels, input, output, cost, decided }),
    );
  };

  /** The refusal behind a verdict, by the counters that came with it. */
  const refusalOf = (
    verdict: number,
    levels: readonly TenantLevel[],
    input: number,
    output: number,
    cost: number,
  ): LimitRefusal => {
    const { answeredAtMs } = (levels[0] as TenantLevel).tenant;
    const found =
      verdict === VERDICT.quota
        ? refuseByQuota(levels, input, output, cost, link.serverNow())
        : verdict === VERDICT.rate
          ? refuseByRate(levels, input + output, answeredAtMs)
          : refuseByBulkhead(levels, verdict === VERDICT.queued ? 'queued' : 'in_flight');
    // Another request of the same exchange may have moved the counters by a hair.
    return (
      found ?? {
        kind: 'throttled',
        level: 'workspace',
        limit: 'requests',
        unit: 'requests',
        limitValue: 0,
        used: 0,
        retryAfterMs: 1,
      }
    );
  };

  const admitted = (lease: TierLease, monotonicMs: number): AdmitResult => ({
    admitted: true,
    lease,
    view: viewAt(lease.compiled.levels, monotonicMs),
  });

  const admitByShare = (lease: TierLease, monotonicMs: number): AdmitResult => {
    const { levels } = lease.compiled;
    const { input, output, cost } = lease;
    lent(lease.tenant, levels, monotonicMs);
    if (!fitsLocally(levels, input, output, cost)) {
      const refusal = shareRefusal(levels, input, output, cost, link.serverNow());
      if (refusal !== undefined) return { admitted: false, refusal, view: viewAt(levels, monotonicMs) };
    }
    takeLocally(levels, input, output, cost, monotonicMs);
    stats.local++;
    return admitted(lease, monotonicMs);
  };

  const tenantOf = (compiled: CompiledScope<TenantLevel>, tenantId: string): TierTenant =>
    compiled.levels[0]?.tenant ?? link.tenant(tenantId);

  const leaveQueue = (lease: TierLease): boolean => {
    if (!lease.queued) return false;
    lease.queued = false;
    for (const level of lease.compiled.levels) {
      level.queued--;
      level.bulkhead.queued--;
      level.dirty = true;
    }
    return true;
  };

  /** With nothing lent, each step is told before it counts as done. */
  const told = (tenant: TierTenant): Promise<void> | undefined =>
    leaseShare === 0 && tenant.online ? tenant.flush() : undefined;

  const store: TierLimitStore = {
    kind: 'valkey',
    get status() {
      return link.status;
    },
    get stats() {
      return { ...stats, exchanges: link.exchanges(), gateways: link.gateways };
    },
    admit(request) {
      if (link.starting !== undefined) return link.starting.then(() => store.admit(request));
      const compiled = compile(request.scope);
      const { levels } = compiled;
      const monotonicMs = clock.monotonic();
      const tenant = tenantOf(compiled, request.scope.tenantId);
      const lease = new TierLease(request, compiled, tenant, link.serverNow(), monotonicMs);
      if (!tenant.online || levels.length === 0) return admitByShare(lease, monotonicMs);
      const { input, output, cost } = lease;
      if (lent(tenant, levels, monotonicMs) && fitsLocally(levels, input, output, cost)) {
        if (takeLocally(levels, input, output, cost, monotonicMs)) tenant.pump();
        stats.local++;
        return admitted(lease, monotonicMs);
      }
      return ask(ASK.admit, levels, input, output, cost).then((verdict) => {
        if (verdict === 'lost') return admitByShare(lease, clock.monotonic());
        if (verdict === VERDICT.granted) return admitted(lease, tenant.answeredAtMs);
        return {
          admitted: false,
          refusal: refusalOf(verdict, levels, input, output, cost),
          view: viewAt(levels, tenant.answeredAtMs),
        };
      });
    },
    topUp(given, more) {
      const lease = ours(given);
      if (lease.settled) return undefined;
      const { levels } = lease.compiled;
      const { inputTokens: input, outputTokens: output, costNanoUsd: cost } = more;
      const { tenant } = lease;
      const here = (): LimitRefusal | undefined => {
        if (!tenant.online) {
          lent(tenant, levels, clock.monotonic());
          const refusal = shareQuotaRefusal(levels, input, output, cost, link.serverNow());
          if (refusal !== undefined) return refusal;
        }
        lease.takeMore(input, output, cost, clock.monotonic());
        return undefined;
      };
      if (
        levels.length === 0 ||
        !tenant.online ||
        (lent(tenant, levels, clock.monotonic()) && quotasFit(levels, input, output, cost))
      )
        return here();
      return ask(ASK.topUp, levels, input, output, cost).then((verdict) => {
        if (verdict === 'lost') return here();
        if (verdict !== VERDICT.granted) return refusalOf(verdict, levels, input, output, cost);
        lease.addReserved(input, output, cost);
        // The call may have ended while the answer was on its way.
        if (lease.settled) lease.takeMore(-input, -output, -cost, clock.monotonic());
        return undefined;
      });
    },
    enterQueue(given) {
      const lease = ours(given);
      if (lease.queued || lease.settled) return undefined;
      const { levels } = lease.compiled;
      const { tenant } = lease;
      const here = (): LimitRefusal | undefined => {
        lent(tenant, levels, clock.monotonic());
        const full = levels.find(({ queued, shares, share }) => share && queued >= shares.queued);
        if (full !== undefined) {
          const { level, bulkhead } = full;
          return {
            kind: 'shed',
            level,
            limit: 'queued',
            unit: 'requests',
            limitValue: bulkhead.maxQueued,
            used: bulkhead.queued,
            retryAfterMs: bulkhead.retryAfterMs(),
          };
        }
        lease.queued = true;
        for (const level of levels) {
          level.queued++;
          level.bulkhead.queued++;
          level.dirty = true;
        }
        return undefined;
      };
      if (!tenant.online || levels.every(({ bulkhead }) => bulkhead.maxQueued === Infinity)) return here();
      return ask(ASK.queue, levels, 0, 0, 0).then((verdict) => {
        if (verdict === 'lost') return here();
        if (verdict !== VERDICT.granted) return refusalOf(verdict, levels, 0, 0, 0);
        lease.queued = true;
        // The call may have ended while the answer was on its way.
        if (lease.settled) leaveQueue(lease);
        return undefined;
      });
    },
    leaveQueue(given) {
      const lease = ours(given);
      return leaveQueue(lease) ? told(lease.tenant) : undefined;
    },
    settle(given, settlement) {
      const lease = ours(given);
      if (lease.settled) return false;
      leaveQueue(lease);
      if (settlement.origin !== undefined) link.settled.note(settlement.origin);
      lease.end(settlement, link.serverNow(), clock.monotonic());
      return told(lease.tenant)?.then(() => true) ?? true;
    },
    look(scope, tokens) {
      if (link.starting !== undefined) return link.starting.then(() => store.look(scope, tokens));
      const compiled = compile(scope);
      const { levels } = compiled;
      const tenant = tenantOf(compiled, scope.tenantId);
      if (levels.length === 0) return undefined;
      const fits = (): boolean => lent(tenant, levels, clock.monotonic()) && fitsLocally(levels, tokens, 0, 0);
      const refusal = (): LimitRefusal | undefined =>
        refuseByQuota(levels, tokens, 0, 0, link.serverNow()) ??
        refuseByBulkhead(levels, 'in_flight') ??
        refuseByRate(levels, tokens, clock.monotonic());
      if (fits()) return undefined;
      if (!tenant.online) return shareRefusal(levels, tokens, 0, 0, link.serverNow());
      // What was heard last may be old: only who looks full by it is worth a question.
      if (levels.every(({ loaded }) => loaded) && refusal() === undefined) return undefined;
      return tenant.look(levels).then(() => {
        if (fits()) return undefined;
        return tenant.online ? refusal() : shareRefusal(levels, tokens, 0, 0, link.serverNow());
      });
    },
    view(scope) {
      if (link.starting !== undefined) return link.starting.then(() => store.view(scope));
      const compiled = compile(scope);
      const { levels } = compiled;
      const tenant = tenantOf(compiled, scope.tenantId);
      const now = (): LimitsView => viewAt(levels, clock.monotonic());
      return levels.length > 0 && tenant.online ? tenant.look(levels).then(now) : now();
    },
    takeRequest(scope) {
      if (link.starting !== undefined) return link.starting.then(() => store.takeRequest(scope));
      const compiled = compile(scope);
      const { levels } = compiled;
      const tenant = tenantOf(compiled, scope.tenantId);
      const here = (): LimitRefusal | undefined => {
        lent(tenant, levels, clock.monotonic());
        const refusal = requestFits(levels) ? undefined : shareRateRefusal(levels, 0);
        if (refusal !== undefined) return refusal;
        for (const level of levels) {
          if (level.requests === undefined) continue;
          level.requestsFree--;
          level.requests.take(1, clock.monotonic());
          level.dirty = true;
        }
        return undefined;
      };
      if (levels.length === 0 || !tenant.online || (lent(tenant, levels, clock.monotonic()) && requestFits(levels)))
        return here();
      return ask(ASK.take, levels, 0, 0, 0).then((verdict) => {
        if (verdict === 'lost') return here();
        return verdict === VERDICT.granted ? undefined : refusalOf(verdict, levels, 0, 0, 0);
      });
    },
    heartbeat: () => link.heartbeat(),
    checkpoint() {
      forgetIdle((level) => level.inFlight > 0 || level.dirty || level.tenant.active.has(level));
      return checkpointOf(states(), restored, link.serverNow());
    },
    restore(checkpoint) {
      restored.put(checkpoint);
    },
    replay({ scope, atMs, usage, costNanoUsd, origin, counted = 'new' }) {
      const compiled = compile(scope);
      const [input, output] = [inputTokens(usage), outputTokens(usage)];
      const asked = counted !== 'new' && origin !== undefined;
      if (asked) {
        tenantOf(compiled, scope.tenantId).replay({
          levels: compiled.levels,
          origin,
          input,
          output,
          cost: costNanoUsd,
          usedAtMs: atMs,
          saved: counted === 'saved',
        });
        // The next report says that all of this epoch is in it. Replays are given in one turn, so no report goes
        // out between them.
        link.settled.note({ epoch: origin.epoch + 1, sequence: 0 });
      } else if (origin !== undefined) link.settled.note(origin);
      if (counted === 'saved') return;
      for (const level of compiled.levels) {
        level.dirty = true;
        level.tenant.active.add(level);
        for (const window of level.windows) {
          const units = meterUnits(window.meter, input, output, costNanoUsd);
          const loan = window.loan as WindowLoan;
          if (!asked) loan.use(units, atMs, window.counter.stepStart(atMs));
          if (level.share) loan.free -= units;
          window.counter.addAt(units, atMs, link.serverNow());
        }
      }
    },
    unfounded(scope) {
      if (link.starting !== undefined) return link.starting.then(() => store.unfounded(scope));
      const compiled = compile(scope);
      return audits.unfounded(compiled.levels, tenantOf(compiled, scope.tenantId));
    },
    levelsWithWindows: () => levelsWithWindows(states()),
    audit: (levels) => audits.audit(levels.flatMap((ref) => find(ref) ?? [])),
    amend: (amendments) =>
      audits.amend(
        amendments.flatMap((amendment) => {
          const level = find(amendment);
          return level === undefined ? [] : [[amendment, level] as const];
        }),
      ),
    quiet: link.quiet,
    close: () => link.close(),
  };
  return store;
}

function ours(lease: AdmissionLease): TierLease {
  if (lease instanceof TierLease) return lease;
  throw new TypeError(`lease ${lease.id} was not given by this store`);
}
