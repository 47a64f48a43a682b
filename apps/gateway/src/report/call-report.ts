import { totalTokens, type Clock } from '@sluice/contracts';
import type { Call } from '../call.ts';
import { overheadUs } from '../metering/usage-events.ts';
import type { CallEnd } from '../stages/settle/settle.ts';
import type { Log } from '../log.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import type { LiveCounters } from './live-counters.ts';
import type { createQuotaAlerts } from './quota-alerts.ts';
import type { RefusalAnomalies } from './refusal-anomalies.ts';

export interface CallReportDeps {
  readonly clock: Clock;
  readonly logger: Log;
  readonly counters: LiveCounters;
  readonly anomalies: RefusalAnomalies;
  readonly quotaAlerts: ReturnType<typeof createQuotaAlerts>;
  readonly metrics: GatewayMetrics;
}

/** Step 6 of the settle contract: one log line, live counters, metrics, and the anomaly of a refusal. */
export function createCallReport({ clock, logger, counters, anomalies, quotaAlerts, metrics }: CallReportDeps): (call: Call, end: CallEnd) => void {
  return (call, end) => {
    const owner = call.key?.workspace;
    const { queueMs, startedAt, firstByteAt } = call.timing;
    const overhead = overheadUs(call, clock.monotonic());
    const ttfbMs = firstByteAt === undefined ? undefined : firstByteAt - startedAt;
    if (owner !== undefined) {
      counters.record({
        workspace: owner.workspace.slug,
        tenant: owner.tenant.id,
        outcome: end.outcome,
        tokens: end.figures === undefined ? 0 : totalTokens(end.figures.usage),
        queueMs,
      });
    }
    metrics.record({
      tenant: owner?.tenant.id,
      operation: call.operation,
      outcome: end.outcome,
      latency: call.started ? { overhead_us: overhead, queue_ms: queueMs, total_ms: end.totalMs, ...(ttfbMs === undefined ? {} : { ttfb_ms: ttfbMs }) } : undefined,
    });
    if (call.refusal !== undefined && !call.started) {
      anomalies.record({ outcome: end.outcome, requestId: call.id, tenant: owner?.tenant.id, workspace: owner?.workspace.slug, limit: call.refusal.limit });
    }
    if (call.view !== undefined && owner !== undefined) quotaAlerts(call.view, { requestId: call.id, tenant: owner.tenant.id, workspace: owner.workspace.slug });
    logger.info(line(call, end, overhead), 'call');
  };
}

function line(call: Call, end: CallEnd, overhead: number): object {
  const quota = call.view?.quotas[0];
  return {
    request_id: call.id,
    client_request_id: call.clientRequestId,
    traceparent: call.traceparent,
    tenant: call.key?.workspace.tenant.id,
    workspace: call.key?.workspace.workspace.slug,
    key_id: call.key?.record.keyId,
    operation: call.operation,
    stream: call.resolved?.inbound.stream,
    model: call.answer?.attempt.model ?? call.resolved?.candidates[0].id,
    provider: call.answer?.attempt.provider.id,
    outcome: end.outcome,
    status: end.status,
    refusal: call.refusal?.code,
    limit: call.refusal?.limit,
    attempts: call.attempts.length,
    fallback_reason: call.fallbackReason,
    tokens: end.figures === undefined ? undefined : totalTokens(end.figures.usage),
    billed_nanousd: end.figures?.billedNanoUsd,
    quota_remaining: quota === undefined ? undefined : Math.max(0, quota.limit - quota.used),
    queue_ms: Math.round(call.timing.queueMs * 10) / 10,
    overhead_us: overhead,
    total_ms: Math.round(end.totalMs * 10) / 10,
  };
}
