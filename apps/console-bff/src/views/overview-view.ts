import {
  OUTCOMES,
  type CustomerLimits,
  type Outcome,
  type OverviewView,
  type TenantOverview,
  type TokenUsage,
} from '@sluice/contracts';
import type { Sight } from '../routes/scoped-route.ts';

/*
 * Each view is built field by field from what came; nothing is copied as a whole, so what the control plane adds stays
 * hidden until somebody writes it here.
 */

export function projectOverview(from: TenantOverview, sight: Sight): OverviewView {
  return {
    workspace: from.workspace,
    tenant: { id: from.tenant.id, name: from.tenant.name },
    plan: from.plan,
    seconds: from.seconds.map((s) => ({ second: s.second, outcomes: projectOutcomes(s.outcomes), tokens: s.tokens })),
    totals: { outcomes: projectOutcomes(from.totals.outcomes) },
    month: {
      calls: from.month.calls,
      tokens: projectTokens(from.month.tokens),
      billed_nanousd: sight.cost ? from.month.billed_nanousd : null,
    },
    limits: projectLimits(from.limits, sight),
    quotas: from.quotas
      .filter((q) => sight.cost || q.meter !== 'cost_nanousd')
      .map((q) => ({
        id: q.id,
        level: q.level,
        meter: q.meter,
        span: q.span,
        mode: q.mode,
        limit: q.limit,
        used: q.used,
        resets_at: q.resets_at,
      })),
    latency:
      from.latency === null
        ? null
        : {
            calls: from.latency.calls,
            p50_ms: from.latency.p50_ms,
            p95_ms: from.latency.p95_ms,
            p99_ms: from.latency.p99_ms,
          },
    kill_switches: from.kill_switches.map((k) => ({ scope: k.scope, target: k.target, message: k.message })),
    open_alerts: from.open_alerts,
  };
}

export function projectLimits(from: CustomerLimits, sight: Sight): CustomerLimits {
  const { requests, tokens, concurrency } = from;
  return {
    requests:
      requests === null
        ? null
        : { per_second: requests.per_second, per_minute: requests.per_minute, burst: requests.burst },
    tokens: tokens === null ? null : { per_minute: tokens.per_minute },
    concurrency: concurrency === null ? null : { in_flight: concurrency.in_flight, queued: concurrency.queued },
    quotas: from.quotas
      .filter((q) => sight.cost || q.meter !== 'cost_nanousd')
      .map((q) => ({ id: q.id, meter: q.meter, span: q.span, limit: q.limit, mode: q.mode })),
  };
}

export function projectTokens(from: TokenUsage): TokenUsage {
  return {
    input: from.input,
    cache_read: from.cache_read,
    cache_write: from.cache_write,
    output: from.output,
    reasoning: from.reasoning,
    audio: from.audio,
  };
}

function projectOutcomes(from: Partial<Record<Outcome, number | undefined>>): Partial<Record<Outcome, number>> {
  const out: Partial<Record<Outcome, number>> = {};
  for (const outcome of OUTCOMES) {
    const value = from[outcome];
    if (value !== undefined && value > 0) out[outcome] = value;
  }
  return out;
}
