import {
  mergePolicy,
  mergeTenantLimits,
  OUTCOMES,
  type ConfigSnapshot,
  type KillSwitch,
  type Limits,
  type Outcome,
  type OverviewView,
  type CustomerLimits,
  type Policy,
  type StateSecond,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { LedgerReader } from '../api/ports.ts';
import { monthStart } from '../api/month-start.ts';
import type { Admitted } from './admit.ts';
import { quotaGauges, spanInWords } from './quota-gauges.ts';
import type { TenantFigures } from './tenant-figures.ts';

const HOUR_MS = 3_600_000;

export interface OverviewSources {
  readonly snapshot: ConfigSnapshot;
  readonly ledger: Pick<LedgerReader, 'summary'>;
  readonly figures: Pick<TenantFigures, 'meters' | 'latency'>;
  readonly seconds: (workspace: string) => readonly StateSecond[];
  readonly openAlerts: (workspace: string) => Promise<number>;
  readonly nowMs: number;
}

/** A workspace now: its traffic, its month, and how far it is from its limits. */
export async function overviewOf(
  { workspace, tenant, may }: Admitted,
  { snapshot, ledger, figures, seconds, openAlerts, nowMs }: OverviewSources,
): Promise<OverviewView> {
  const plan = snapshot.plans[tenant.plan];
  if (plan === undefined) throw new ProblemError(404, 'Not found');
  const { slug } = workspace;
  const cost = may('cost:read');
  const limits = mergeTenantLimits(plan, tenant);
  const policy = mergePolicy(plan.policy, workspace.override);
  const [month, quotas, latency, open_alerts] = await Promise.all([
    ledger.summary({ workspace: slug, from: monthStart(nowMs) }),
    quotaGauges({
      tenant: { ...tenant, limits },
      workspace,
      policy,
      nowMs,
      cost,
      read: (scope, fromMs, toMs) => figures.meters(scope, fromMs, toMs),
    }),
    figures.latency(slug, nowMs - HOUR_MS),
    openAlerts(slug),
  ]);
  const told = seconds(slug).map(({ second, outcomes, tokens }) => ({ second, outcomes: seen(outcomes), tokens }));
  return {
    workspace: slug,
    tenant: { id: tenant.id, name: tenant.name },
    plan: tenant.plan,
    seconds: told,
    totals: { outcomes: sum(told.map(({ outcomes }) => outcomes)) },
    month: {
      calls: month.calls,
      tokens: month.tokens,
      billed_nanousd: cost ? Math.max(0, month.billed_nanousd) : null,
    },
    limits: customerLimits(limits, cost),
    quotas,
    latency,
    kill_switches: Object.values(snapshot.killSwitches)
      .filter((killSwitch) => concerns(killSwitch, slug, policy))
      .map(({ scope, target, message }) => ({ scope, target: target ?? null, message })),
    open_alerts,
  };
}

/** Whether a kill switch can stop calls of a workspace; that of a feature where the policy names the feature. */
export function concerns({ scope, target }: KillSwitch, slug: string, policy: Policy): boolean {
  switch (scope) {
    case 'all':
      return true;
    case 'workspace':
      return target === slug;
    case 'provider':
      return policy.routing.chain.some(({ provider }) => provider === target);
    case 'model':
      return (
        policy.routing.allowModels === undefined ||
        (target !== undefined && policy.routing.allowModels.includes(target))
      );
    case 'feature':
      return target !== undefined && Object.hasOwn(policy.routing.features, target);
  }
}

/** Limits in the console's words. Money windows are for who may read cost. */
export function customerLimits({ requests, tokens, concurrency, quotas }: Limits, cost: boolean): CustomerLimits {
  return {
    requests:
      requests === undefined
        ? null
        : { per_second: requests.perSecond ?? null, per_minute: requests.perMinute ?? null, burst: requests.burst },
    tokens: tokens === undefined ? null : { per_minute: tokens.perMinute },
    concurrency: concurrency === undefined ? null : { in_flight: concurrency.inFlight, queued: concurrency.queued },
    quotas: quotas
      .filter(({ meter }) => cost || meter !== 'cost_nanousd')
      .map((window) => ({
        id: window.id,
        meter: window.meter,
        span: spanInWords(window),
        limit: window.limit,
        mode: window.mode,
      })),
  };
}

function seen(outcomes: Partial<Record<Outcome, number>>): Partial<Record<Outcome, number>> {
  return Object.fromEntries(Object.entries(outcomes).filter(([, count]) => count > 0));
}

function sum(all: readonly Partial<Record<Outcome, number>>[]): Partial<Record<Outcome, number>> {
  const out: Partial<Record<Outcome, number>> = {};
  for (const outcome of OUTCOMES) {
    const total = all.reduce((count, one) => count + (one[outcome] ?? 0), 0);
    if (total > 0) out[outcome] = total;
  }
  return out;
}
