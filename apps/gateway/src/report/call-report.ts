import { totalTokens, type Clock } from '@sluice/contracts';
import { jsonString, optionalMember, type LineLog } from '@sluice/service-kit';
import type { Call, CallFigures } from '../call.ts';
import { overheadUs } from '../metering/usage-events.ts';
import type { CallEnd } from './call-end.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import type { LiveCounters } from './live-counters.ts';
import type { createQuotaAlerts } from './quota-alerts.ts';
import type { ProviderFiguresKeeper } from './provider-figures.ts';
import type { RefusalAnomalies } from './refusal-anomalies.ts';

export interface CallReportDeps {
  readonly clock: Clock;
  readonly log: LineLog;
  readonly counters: LiveCounters;
  readonly providers: Pick<ProviderFiguresKeeper, 'record'>;
  readonly anomalies: RefusalAnomalies;
  readonly quotaAlerts: ReturnType<typeof createQuotaAlerts>;
  readonly metrics: GatewayMetrics;
  readonly usageAlerts: (call: Call, figures: CallFigures) => void;
}

/** Step 6 of the settle contract: one log line, live counters, metrics, and the anomaly of a refusal. */
export function createCallReport({
  clock,
  log,
  counters,
  providers,
  anomalies,
  quotaAlerts,
  metrics,
  usageAlerts,
}: CallReportDeps): (call: Call, end: CallEnd) => void {
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
    for (let i = 0; i < call.attempts.length; i += 1) providers.record(call.attempts[i] as Call['attempts'][number]);
    metrics.record({
      tenant: owner?.tenant.id,
      operation: call.operation,
      outcome: end.outcome,
      latency: call.started
        ? {
            overhead_us: overhead,
            queue_ms: queueMs,
            total_ms: end.totalMs,
            ...(ttfbMs === undefined ? {} : { ttfb_ms: ttfbMs }),
          }
        : undefined,
    });
    if (call.refusal !== undefined && !call.started) {
      anomalies.record({
        outcome: end.outcome,
        requestId: call.id,
        tenant: owner?.tenant.id,
        workspace: owner?.workspace.slug,
        limit: call.refusal.limit,
      });
    }
    if (end.figures !== undefined) usageAlerts(call, end.figures);
    if (call.view !== undefined && owner !== undefined)
      quotaAlerts(call.view, { requestId: call.id, tenant: owner.tenant.id, workspace: owner.workspace.slug });
    if (log.enabled) log.info(members(call, end, overhead), clock.now(), 'call');
  };
}

/** The line's members as text: an object of as many fields costs several times that, and this is made for each call. */
function members(call: Call, { outcome, status, figures, totalMs }: CallEnd, overhead: number): string {
  const { key, resolved, answer, refusal, timing } = call;
  const quota = call.view?.quotas[0];
  return (
    `"request_id":"${call.id}"${optionalMember('client_request_id', call.clientRequestId)},"traceparent":"${call.traceparent}"` +
    (key === undefined
      ? ''
      : `,"tenant":${jsonString(key.workspace.tenant.id)},"workspace":"${key.workspace.workspace.slug}","key_id":"${key.record.keyId}"`) +
    `,"operation":"${call.operation}"` +
    (resolved === undefined ? '' : `,"stream":${resolved.inbound.stream}`) +
    optionalMember('model', answer?.attempt.model ?? resolved?.candidates[0].id) +
    optionalMember('provider', answer?.attempt.provider.id) +
    optionalMember('decision_id', call.plan?.decisionId) +
    `,"outcome":"${outcome}","status":${status}` +
    (refusal === undefined
      ? ''
      : `,"refusal":"${refusal.code}"${refusal.limit === undefined ? '' : `,"limit":${JSON.stringify(refusal.limit)}`}`) +
    optionalMember('cut', call.cutFor) +
    `,"attempts":${call.attempts.length}${optionalMember('fallback_reason', call.fallbackReason)}` +
    (figures === undefined ? '' : `,"tokens":${totalTokens(figures.usage)},"billed_nanousd":${figures.billedNanoUsd}`) +
    (quota === undefined ? '' : `,"quota_remaining":${Math.max(0, quota.limit - quota.used)}`) +
    `,"queue_ms":${tenths(timing.queueMs)},"overhead_us":${overhead},"total_ms":${tenths(totalMs)}`
  );
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
