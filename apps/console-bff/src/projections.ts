import {
  OUTCOMES,
  ROLE_PERMISSIONS,
  type CreateKeyResponse,
  type CustomerLimits,
  type KeysView,
  type NewKeyView,
  type Outcome,
  type OverviewView,
  type Principal,
  type RequestsView,
  type SessionView,
  type TenantKeys,
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
  const seconds = from.seconds.map((s) => ({ second: s.second, outcomes: projectOutcomes(s.outcomes), tokens: s.tokens }));
  return {
    workspace: from.workspace,
    tenant: { id: from.tenant.id, name: from.tenant.name },
    plan: from.tenant.plan,
    seconds,
    totals: { outcomes: sumOutcomes(seconds.map((second) => second.outcomes)) },
    month: { calls: from.month.calls, tokens: projectTokens(from.month.tokens), billed_nanousd: sight.cost ? from.month.billed_nanousd : null },
    limits: projectLimits(from.tenant.limits),
    quotas: [],
    latency: null,
    kill_switches: [],
    open_alerts: 0,
  };
}

export function projectUsage(from: TenantUsage, sight: Sight): UsageView {
  const none = { calls: 0, input_tokens: 0, output_tokens: 0, billed_nanousd: sight.cost ? 0 : null };
  return {
    from: '1970-01-01T00:00:00.000Z',
    to: '1970-01-01T00:00:00.000Z',
    step: 'hour',
    by: 'model',
    groups: [],
    totals: none,
    previous: { from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:00.000Z', ...none },
    points: from.points.map((p) => ({
      at: p.at,
      model: p.model,
      feature: p.feature,
      calls: p.calls,
      input_tokens: p.input_tokens,
      output_tokens: p.output_tokens,
      billed_nanousd: sight.cost ? p.billed_nanousd : null,
    })),
  };
}

export function projectRequests(from: TenantRequests, sight: Sight): RequestsView {
  return {
    rows: from.rows.map((r) => ({
      id: r.request_id,
      kind: 'call',
      request_id: r.request_id,
      samples: [],
      count: 1,
      occurred_at: r.occurred_at,
      model: r.model,
      feature: r.feature,
      outcome: r.outcome,
      error_code: r.error_code,
      status: r.status,
      tokens: projectTokens(r.tokens),
      billed_nanousd: sight.cost ? r.billed_nanousd : null,
      total_ms: r.latency.total_ms,
      fallback: r.fallback,
      model_requested: null,
      provider: null,
      key_id: null,
      key_name: null,
      end_user: null,
      ttfb_ms: null,
      queue_ms: null,
      stream: false,
      fallback_reason: null,
      limit: null,
      explanation: null,
    })),
    next_cursor: from.next_cursor,
  };
}

export function projectKeys(from: TenantKeys, nowMs: number): KeysView {
  const rows = from.rows.map((key) => ({
    key_id: key.keyId,
    name: key.name,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    expired: key.expiresAt !== undefined && Date.parse(key.expiresAt) <= nowMs,
    allow_models: key.allowModels === undefined ? null : [...key.allowModels],
    allow_addresses: key.allowAddresses === undefined ? null : [...key.allowAddresses],
    limits: key.limits === undefined ? null : projectLimits(key.limits),
  }));
  return { rows: rows.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at)) };
}

export function projectNewKey(from: CreateKeyResponse): NewKeyView {
  return { key_id: from.keyId, key: from.key, name: from.name };
}

function projectOutcomes(from: Partial<Record<Outcome, number | undefined>>): Partial<Record<Outcome, number>> {
  const out: Partial<Record<Outcome, number>> = {};
  for (const outcome of OUTCOMES) {
    const value = from[outcome];
    if (value !== undefined && value > 0) out[outcome] = value;
  }
  return out;
}

function sumOutcomes(seconds: readonly Partial<Record<Outcome, number>>[]): Partial<Record<Outcome, number>> {
  const sum: Partial<Record<Outcome, number>> = {};
  for (const second of seconds) {
    for (const outcome of OUTCOMES) {
      const value = second[outcome];
      if (value !== undefined) sum[outcome] = (sum[outcome] ?? 0) + value;
    }
  }
  return sum;
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

type ReadLimits = TenantOverview['tenant']['limits'];

function projectLimits(from: ReadLimits): CustomerLimits {
  const { requests, tokens, concurrency } = from;
  return {
    requests: requests === undefined ? null : { per_second: requests.perSecond ?? null, per_minute: requests.perMinute ?? null, burst: requests.burst },
    tokens: tokens === undefined ? null : { per_minute: tokens.perMinute },
    concurrency: concurrency === undefined ? null : { in_flight: concurrency.inFlight, queued: concurrency.queued },
    quotas: from.quotas.map((q) => ({ id: q.id, meter: q.meter, span: spanInWords(q.span), limit: q.limit, mode: q.mode })),
  };
}

function spanInWords(span: ReadLimits['quotas'][number]['span']): string {
  return span.kind === 'calendar' ? `calendar ${span.period ?? 'month'}` : `rolling ${span.seconds ?? 0} s`;
}
