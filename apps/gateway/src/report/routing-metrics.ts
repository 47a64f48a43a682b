import type { RouteDecision } from '@sluice/contracts';
import type { Metrics } from '@sluice/service-kit';
import type { SnapshotClient } from '../router/snapshot-client.ts';

export interface RoutingMetrics {
  decided(decision: RouteDecision): void;
  /** The policy could not decide and the default model answered. */
  faulted(): void;
}

/** How models were chosen, and how old what they are chosen by is. */
export function createRoutingMetrics(
  metrics: Metrics,
  snapshots: Pick<SnapshotClient, 'connected' | 'ageMs' | 'refused'>,
): RoutingMetrics {
  const decisions = metrics.counter(
    'sluice_gateway_decisions_total',
    'Choices of a model that was left open: `drawn`, or why there was nothing to draw.',
    ['kind'],
  );
  const faults = metrics.counter(
    'sluice_gateway_decision_faults_total',
    'Choices that the snapshot could not make, so that the default model answered.',
  );
  const age = metrics.gauge(
    'sluice_gateway_router_snapshot_age_ms',
    'Since the snapshot of the router was last known to be current, milliseconds; 0 before the first.',
  );
  const connected = metrics.gauge('sluice_gateway_router_connected', '1 while the router is followed.');
  const refused = metrics.gauge(
    'sluice_gateway_router_snapshots_refused',
    'Snapshots that came since the start and could not be read.',
  );
  Object.assign(age, { collect: () => age.set(snapshots.ageMs) });
  Object.assign(connected, { collect: () => connected.set(snapshots.connected ? 1 : 0) });
  Object.assign(refused, { collect: () => refused.set(snapshots.refused) });
  return {
    decided: ({ deterministic }) => decisions.inc({ kind: deterministic ?? 'drawn' }),
    faulted: () => faults.inc(),
  };
}
