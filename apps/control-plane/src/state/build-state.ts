import type {
  Clock,
  ConfigSnapshot,
  OperatorState,
  Outcome,
  ProviderFigures,
  QueueState,
  StateAnomaly,
  StateTenant,
} from '@sluice/contracts';
import { skewSeconds, type GatewayReports, type KnownGateway } from './gateway-reports.ts';
import type { Polled } from './polled.ts';

export interface LedgerHead {
  readonly rows: number;
  readonly last_settled_at: string | null;
}

export interface StateSources {
  readonly clock: Clock;
  /** The configuration, or undefined before it was ever loaded. */
  readonly config: () => ConfigSnapshot | undefined;
  readonly reports: GatewayReports;
  readonly queues: Polled<readonly QueueState[]>;
  readonly anomalies: Polled<readonly StateAnomaly[]>;
  readonly ledger: Polled<LedgerHead>;
  readonly exports: { readonly problems: readonly string[] };
  readonly chaosEnabled: boolean;
  readonly chaos: () => OperatorState['chaos'];
  readonly chaosReports: () => OperatorState['chaos_reports'];
}

/** The whole live picture. Reads memory only, so it answers whatever is down. */
export function buildState(sources: StateSources): OperatorState {
  const config = sources.config();
  const gateways = sources.reports.gateways();
  return {
    at: iso(sources.clock.now()),
    config_version: config?.version ?? 0,
    chaos_enabled: sources.chaosEnabled,
    tenants:
      config === undefined
        ? []
        : Object.values(config.tenants).map((tenant) => tenantState(tenant, config, sources.reports)),
    providers: Object.values(config?.providers ?? {}).map((provider) => ({
      provider: provider.id,
      display_name: provider.displayName,
      dialect: provider.dialect,
      breakers: fromLive(gateways, ({ report }) =>
        report.breakers.filter((b) => b.provider === provider.id).map((b) => ({ ...b, gateway_id: report.gateway_id })),
      ),
      pools: fromLive(gateways, ({ report }) =>
        report.pools.filter((p) => p.provider === provider.id).map((p) => ({ ...p, gateway_id: report.gateway_id })),
      ),
      figures: sumFigures(
        fromLive(gateways, ({ report }) => report.providers.filter((p) => p.provider === provider.id)),
      ),
    })),
    queues:
      sources.queues.value === undefined || sources.queues.failingSinceMs !== undefined
        ? null
        : [...sources.queues.value],
    gateways: gateways.map(
      ({
        report: { seconds: _seconds, breakers: _breakers, pools: _pools, providers: _providers, ...rest },
        live,
      }) => ({ ...rest, live }),
    ),
    anomalies: [...(sources.anomalies.value ?? [])],
    ledger: sources.ledger.failingSinceMs === undefined ? (sources.ledger.value ?? null) : null,
    chaos: sources.chaos(),
    chaos_reports: sources.chaosReports(),
    problems: problems(sources, config, gateways),
  };
}

function tenantState(
  tenant: ConfigSnapshot['tenants'][string],
  config: ConfigSnapshot,
  reports: GatewayReports,
): StateTenant {
  const seconds = reports.seconds(tenant.id);
  const totals: Partial<Record<Outcome, number>> = {};
  for (const { outcomes } of seconds) {
    for (const [outcome, count] of Object.entries(outcomes) as [Outcome, number][])
      totals[outcome] = (totals[outcome] ?? 0) + count;
  }
  const workspaces = Object.values(config.workspaces)
    .filter((workspace) => workspace.tenant === tenant.id)
    .map((workspace) => workspace.slug);
  return {
    tenant: tenant.id,
    name: tenant.name,
    plan: tenant.plan,
    limits: tenant.limits,
    workspaces,
    seconds,
    totals,
  };
}

function sumFigures(parts: readonly ProviderFigures[]): Omit<ProviderFigures, 'provider'> {
  const sum = { attempts: 0, failed: 0, answered: 0, ttfb_ms_mean: 0, ttfb_ms_max: 0 };
  let waited = 0;
  for (const part of parts) {
    sum.attempts += part.attempts;
    sum.failed += part.failed;
    sum.answered += part.answered;
    waited += part.ttfb_ms_mean * part.answered;
    sum.ttfb_ms_max = Math.max(sum.ttfb_ms_max, part.ttfb_ms_max);
  }
  if (sum.answered > 0) sum.ttfb_ms_mean = waited / sum.answered;
  return sum;
}

function fromLive<T>(gateways: readonly KnownGateway[], pick: (gateway: KnownGateway) => T[]): T[] {
  return gateways.filter((gateway) => gateway.live).flatMap(pick);
}

function problems(
  sources: StateSources,
  config: ConfigSnapshot | undefined,
  gateways: readonly KnownGateway[],
): string[] {
  const out: string[] = [];
  if (config === undefined)
    out.push('There is no configuration yet: the database has not answered since the control plane started.');
  if (sources.ledger.failingSinceMs !== undefined) {
    out.push(
      `The database does not answer since ${iso(sources.ledger.failingSinceMs)}: no changes, the ledger and anomalies stand still; gateways serve on.`,
    );
  }
  if (sources.queues.failingSinceMs !== undefined) {
    out.push(
      `The event spine does not answer since ${iso(sources.queues.failingSinceMs)}: events wait on the gateways' disks.`,
    );
  }
  if (gateways.length === 0) out.push('No gateway has reported yet.');
  for (const { report, live, receivedAtMs } of gateways) {
    if (!live) out.push(`Gateway ${report.gateway_id} has not reported since ${iso(receivedAtMs)}.`);
    else if (!report.config_connected)
      out.push(`Gateway ${report.gateway_id} is not connected to the configuration stream.`);
    else if (config !== undefined && report.config_version < config.version - 1) {
      out.push(
        `Gateway ${report.gateway_id} has configuration ${report.config_version}, the newest is ${config.version}.`,
      );
    }
    const skew = live ? skewSeconds(report.at_ms, receivedAtMs) : 0;
    if (skew !== 0)
      out.push(`The clock of gateway ${report.gateway_id} is ${Math.abs(skew)} s ${skew > 0 ? 'ahead' : 'behind'}.`);
    if (live)
      for (const { provider, credential, secret } of report.missing_secrets)
        out.push(
          `Gateway ${report.gateway_id} does not have the secret ${secret} of ${provider}'s credential ${credential}: nothing is sent by it.`,
        );
    if (live)
      for (const breaker of report.breakers)
        if (breaker.state === 'open')
          out.push(
            `The breaker for ${breaker.provider} / ${breaker.model} is open on ${report.gateway_id}, for ${breaker.tenants_open} of ${breaker.tenants} tenants.`,
          );
  }
  out.push(...sources.exports.problems);
  for (const queue of sources.queues.value ?? [])
    if (queue.depth > 0) out.push(`Dead-letter queue ${queue.dlq} holds ${queue.depth}.`);
  return out;
}

const iso = (ms: number): string => new Date(ms).toISOString();
