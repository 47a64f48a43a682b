import type { Clock } from '@sluice/contracts';
import type { Ids, Metrics } from '@sluice/service-kit';
import type { GatewaySettings } from '../environment.ts';
import type { Log } from '../log.ts';
import { createRoutingMetrics } from '../report/routing-metrics.ts';
import type { Planner } from '../planning/planner.ts';
import { createRouteStage } from '../stages/route/route.ts';
import type { Stage } from '../stage.ts';
import { createChooseModel } from './choose-model.ts';
import { createSnapshotClient, type SnapshotClient } from './snapshot-client.ts';

export interface LearnedRouting {
  readonly stage: Stage;
  readonly snapshots: SnapshotClient;
}

/**
 * The route stage with all that it decides by: the router's snapshots, followed and on disk, and what is counted of
 * it.
 */
export function createLearnedRouting({
  settings,
  clock,
  logger,
  metrics,
  ids,
  planner,
}: {
  settings: Pick<GatewaySettings, 'router' | 'dataDir'>;
  clock: Clock;
  logger: Log;
  metrics: Metrics;
  ids: Ids;
  planner: Planner;
}): LearnedRouting {
  const snapshots = createSnapshotClient({ router: settings.router, dataDir: settings.dataDir, clock, logger });
  const counted = createRoutingMetrics(metrics, snapshots);
  const onFault = (reason: string): void => {
    counted.faulted();
    logger.error({ reason: reason.slice(0, 300) }, 'the learned policy could not decide; the default model answers');
  };
  const chooseModel = createChooseModel({
    current: snapshots.current,
    decisionId: ids.ulid,
    random: Math.random,
    onFault,
  });
  return {
    snapshots,
    stage: createRouteStage({ clock, planner, decisionId: ids.ulid, onDecision: counted.decided, chooseModel }),
  };
}
