import type { BreakerReport, PoolReport } from '@sluice/contracts';
import type { Metrics } from '@sluice/service-kit';

/** What happens between the gateway and its providers. Labels are ids of the configuration and words of fixed lists. */
export interface UpstreamMetrics {
  passed(provider: string, reason: string): void;
  retried(provider: string): void;
  breakerChanged(provider: string, model: string, to: string): void;
  probed(provider: string, result: string): void;
}

const BREAKER = { closed: 0, partly_open: 0, half_open: 1, open: 2 } as const satisfies Record<
  BreakerReport['state'],
  number
>;
const ACCOUNT = { ok: 0, cooldown: 1, account_fault: 2 } as const satisfies Record<PoolReport['state'], number>;

/** @param state is read when the metrics are. */
export function createUpstreamMetrics(
  metrics: Metrics,
  state: { breakers(): readonly BreakerReport[]; pools(): readonly PoolReport[] },
): UpstreamMetrics {
  const fallbacks = metrics.counter(
    'sluice_gateway_fallbacks_total',
    'Times that a call went past a provider of its chain, by why.',
    ['provider', 'reason'],
  );
  const retries = metrics.counter(
    'sluice_gateway_retries_total',
    'Calls that were sent to the same provider once more.',
    ['provider'],
  );
  const changes = metrics.counter('sluice_gateway_breaker_changes_total', 'Changes of a breaker, by its new state.', [
    'provider',
    'model',
    'to',
  ]);
  const probes = metrics.counter('sluice_gateway_health_probes_total', 'Active probes, by how they ended.', [
    'provider',
    'result',
  ]);
  const breakers = metrics.gauge(
    'sluice_gateway_breaker_state',
    'Breaker of a provider and model: 0 closed for most tenants, 1 half open, 2 open.',
    ['provider', 'model'],
  );
  const openTenants = metrics.gauge(
    'sluice_gateway_breaker_open_tenants',
    'Tenants that the breaker of a provider and model is open or half open for.',
    ['provider', 'model'],
  );
  const accounts = metrics.gauge(
    'sluice_gateway_account_state',
    'Account at a provider: 0 well, 1 cooling down after a rate limit, 2 refused.',
    ['provider', 'credential'],
  );
  Object.assign(breakers, {
    collect() {
      breakers.reset();
      openTenants.reset();
      for (const { provider, model, state: now, tenants_open: open } of state.breakers()) {
        breakers.set({ provider, model }, BREAKER[now]);
        openTenants.set({ provider, model }, open);
      }
    },
  });
  Object.assign(accounts, {
    collect() {
      accounts.reset();
      for (const { provider, credential, state: now } of state.pools())
        accounts.set({ provider, credential }, ACCOUNT[now]);
    },
  });
  return {
    passed: (provider, reason) => fallbacks.inc({ provider, reason }),
    retried: (provider) => retries.inc({ provider }),
    breakerChanged: (provider, model, to) => changes.inc({ provider, model, to }),
    probed: (provider, result) => probes.inc({ provider, result }),
  };
}
