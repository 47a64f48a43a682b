import type { Clock, LimitStore } from '@sluice/contracts';
import { createMemoryLimitStore, createValkeyLimitStore } from '@sluice/limits';
import type { Logger } from '@sluice/service-kit';
import type { GatewaySettings } from '../environment.ts';

/**
 * The store that the settings name; a shared one connects in the background and says in the log when it is lost and
 * found.
 *
 * @param life the outbox's epoch: it grows with each start of this gateway.
 */
export function createLimits(
  { limitStore, cellId, gatewayId }: Pick<GatewaySettings, 'limitStore' | 'cellId' | 'gatewayId'>,
  life: number,
  clock: Clock,
  logger: Logger,
): LimitStore {
  if (limitStore.kind === 'memory') return createMemoryLimitStore({ clock });
  return createValkeyLimitStore({
    url: limitStore.url,
    cellId,
    gatewayId,
    life,
    clock,
    onTenantFault: (tenant, error) =>
      logger.error(
        { tenant, reason: error.message },
        "what the shared limit store holds of a tenant is broken; that tenant's calls are held to this gateway's share",
      ),
    onStatus(status, error) {
      if (status.state === 'connected') logger.info({}, 'limits are shared with the other gateways');
      else
        logger.warn(
          { reason: error instanceof Error ? error.message : String(error) },
          'the shared limit store is lost; this gateway goes on with its share of each limit',
        );
    },
  });
}
