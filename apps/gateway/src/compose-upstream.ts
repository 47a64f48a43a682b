import type { Clock } from '@sluice/contracts';
import type { Logger, Metrics } from '@sluice/service-kit';
import type { CompiledConfig } from './compiled-config.ts';
import type { FoundAnomaly } from './report/publish-anomaly.ts';
import { accountAnomaly, breakerAnomaly, unknownModelAnomaly } from './report/upstream-anomalies.ts';
import { createUpstreamMetrics } from './report/upstream-metrics.ts';
import type { AccountChange } from './upstream/account-verdicts.ts';
import { createBreakers } from './upstream/breakers.ts';
import { createCapacity } from './upstream/capacity.ts';
import { createUnknownModels } from './upstream/unknown-models.ts';

export interface UpstreamParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly currentConfig: () => CompiledConfig | undefined;
  readonly publishAnomaly: (anomaly: FoundAnomaly) => void;
}

/**
 * What is known of the providers, shared by all calls: breakers, accounts and their capacity, with logs, metrics
 * and alerts of their changes.
 */
export function composeUpstream({ clock, logger, metrics, currentConfig, publishAnomaly }: UpstreamParts) {
  const capacity = createCapacity({ clock });
  /** Of what is still configured; a provider or model that was taken out leaves the picture. */
  const breakerReports = () =>
    breakers
      .report()
      .filter(
        ({ provider, model }) =>
          currentConfig()?.providers.has(provider) === true && currentConfig()?.models.has(model) === true,
      );
  const poolReports = () =>
    capacity.report().filter(
      (pool) =>
        currentConfig()
          ?.providers.get(pool.provider)
          ?.credentials.some(({ id }) => id === pool.credential) === true,
    );
  const upstreamMetrics = createUpstreamMetrics(metrics, { breakers: breakerReports, pools: poolReports });
  const breakers = createBreakers({
    clock,
    onChange: (change) => {
      const { provider, model, from, to, tenants, tenantsOpen, openFor } = change;
      logger.warn(
        { provider, model, from, to, tenants, tenants_open: tenantsOpen, open_for: openFor },
        'a breaker changed its state',
      );
      upstreamMetrics.breakerChanged(provider, model, to);
      const anomaly = breakerAnomaly(change);
      if (anomaly !== undefined) publishAnomaly(anomaly);
    },
  });
  const onAccount = (change: AccountChange): void => {
    const { to, requestId, ...account } = change;
    if (to === 'accepted') logger.info({ request_id: requestId, ...account }, 'a provider accepts our account again');
    else {
      logger.error({ request_id: requestId, ...account }, 'a provider account cannot be used');
      publishAnomaly(accountAnomaly(change));
    }
  };
  const onUnknownModel = createUnknownModels({ clock }, (unknown) => {
    const { requestId, provider, model, providerModel } = unknown;
    logger.error(
      { request_id: requestId, provider, model, provider_model: providerModel },
      'a provider does not know a model of the catalogue',
    );
    publishAnomaly(unknownModelAnomaly(unknown));
  });
  return { capacity, breakers, onAccount, onUnknownModel, metrics: upstreamMetrics, breakerReports, poolReports };
}
