import type { GatewayReport, LimitStore, OutboxStats } from '@sluice/contracts';
import type { ConfigClient } from '../config/config-client.ts';
import type { GatewayServer } from '../http/server.ts';
import type { Estimator } from '../metering/estimator.ts';

/** Workspaces whose estimate errors are reported. */
const REPORTED_ESTIMATES = 50;

export interface DescribedGateway {
  readonly gatewayId: string;
  readonly cellId: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** The counters are in force. */
  readonly recovered: boolean;
  readonly server: Pick<GatewayServer, 'draining' | 'inFlight'>;
  readonly config: Pick<ConfigClient, 'version' | 'connected' | 'ageMs'>;
  readonly limits: Pick<LimitStore, 'kind' | 'status'>;
  readonly estimator: Pick<Estimator, 'errors'>;
  readonly outbox: OutboxStats;
  readonly upstream: Pick<GatewayReport, 'breakers' | 'pools' | 'providers' | 'missing_secrets'>;
}

/** Everything of a report but its seconds. */
export function describeGateway(gateway: DescribedGateway): Omit<GatewayReport, 'seconds'> {
  const { server, config, outbox } = gateway;
  return {
    gateway_id: gateway.gatewayId,
    cell_id: gateway.cellId,
    pid: process.pid,
    started_at_ms: gateway.startedAtMs,
    at_ms: gateway.nowMs,
    state: server.draining ? 'draining' : gateway.recovered ? 'serving' : 'starting',
    config_version: config.version,
    config_connected: config.connected,
    config_age_ms: config.ageMs,
    store: storeOf(gateway.limits),
    estimates: gateway.estimator
      .errors(REPORTED_ESTIMATES)
      .map(({ workspace, calls, uncalibratedPercent, calibratedPercent }) => ({
        workspace,
        calls,
        uncalibrated_percent: uncalibratedPercent,
        calibrated_percent: calibratedPercent,
      })),
    outbox: {
      epoch: outbox.epoch,
      last_sequence: outbox.lastSequence,
      published_sequence: outbox.publishedSequence,
      acked_sequence: outbox.ackedSequence,
      pending: outbox.pending,
      oldest_age_ms: outbox.oldestAgeMs,
      bytes: outbox.bytes,
      segments: outbox.segments,
    },
    rss_bytes: process.memoryUsage.rss(),
    in_flight: server.inFlight,
    ...gateway.upstream,
  };
}

function storeOf({ kind, status }: Pick<LimitStore, 'kind' | 'status'>): GatewayReport['store'] {
  if (kind === 'memory') return 'memory';
  return status.state === 'connected' ? 'valkey' : 'valkey_local_share';
}
