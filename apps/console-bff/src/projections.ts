import {
  OUTCOMES,
  ROLE_PERMISSIONS,
  type CustomerLimits,
  type Outcome,
  type OverviewView,
  type Principal,
  type RequestsView,
  type SessionView,
  type TenantOverview,
  type TenantRequests,
  type TenantUsage,
  type TokenUsage,
  type UsageView,
} from '@sluice/contracts';

/*
 * Each view is built field by field from what came; nothing is copied as a whole, so what the control plane adds stays
 * hidden until somebody writes it here.
 */

/** What the reader may see beyond the route's own permission. */
export interface Sight {
  readonly cost: boolean;
}

export function projectSession(principal: Principal): SessionView {
  const roles = Object.entries(principal.roles);
  return {
    kind: 'person',
    userId: principal.userId,
    email: principal.email,
    roles: Object.fromEntries(roles),
    permissions: Object.fromEntries(roles.map(([slug, role]) => [slug, [...ROLE_PERMISSIONS[role]]])),
  };
}

export function projectOverview(from: TenantOverview, sight: Sight): OverviewView {
  return {
    workspace: from.workspace,
    tenant: from.tenant,
    plan: from.plan,
    seconds: from.seconds.map((s) => ({ second: s.second, outcomes: projectOutcomes(s.outcomes), tokens: s.tokens })),
    totals: { outcomes: projectOutcomes(from.totals.outcomes) },
    today: { calls: from.today.calls, tokens: projectTokens(from.today.tokens), billed_nanousd: sight.cost ? from.today.billed_nanousd : null },
    limits: projectLimits(from.limits),
  };
}

export function projectUsage(from: TenantUsage, sight: Sight): UsageView {
  return {
    buckets: from.buckets.map((b) => ({
      bucket: b.bucket,
      model: b.model,
      calls: b.calls,
      tokens: projectTokens(b.tokens),
      billed_nanousd: sight.cost ? b.billed_nanousd : null,
    })),
  };
}

export function projectRequests(from: TenantRequests, sight: Sight): RequestsView {
  return {
    rows: from.rows.map((r) => ({
      request_id: r.request_id,
      occurred_at: r.occurred_at,
      model: r.model,
      outcome: r.outcome,
      error_code: r.error_code,
      status: r.status,
      tokens: projectTokens(r.tokens),
      billed_nanousd: sight.cost ? r.billed_nanousd : null,
      total_ms: r.total_ms,
      fallback: r.fallback,
    })),
    next_cursor: from.next_cursor,
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

function projectTokens(from: TokenUsage): TokenUsage {
  return {
    input: from.input,
    cache_read: from.cache_read,
    cache_write: from.cache_write,
    output: from.output,
    reasoning: from.reasoning,
    audio: from.audio,
  };
}

function projectLimits(from: TenantOverview['limits']): CustomerLimits {
  const { requests, tokens, concurrency } = from;
  return {
    requests: requests === undefined ? null : { per_second: requests.perSecond ?? null, per_minute: requests.perMinute ?? null, burst: requests.burst },
    tokens: tokens === undefined ? null : { per_minute: tokens.perMinute },
    concurrency: concurrency === undefined ? null : { in_flight: concurrency.inFlight, queued: concurrency.queued },
    quotas: from.quotas.map((q) => ({ id: q.id, meter: q.meter, span: spanInWords(q.span), limit: q.limit, mode: q.mode })),
  };
}

function spanInWords(span: TenantOverview['limits']['quotas'][number]['span']): string {
  return span.kind === 'calendar' ? `calendar ${span.period ?? 'month'}` : `rolling ${span.seconds ?? 0} s`;
}
