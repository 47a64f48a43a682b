import type {
  AlertsView,
  BillingView,
  DeliveriesView,
  KeysView,
  MembersView,
  ModelsView,
  OverviewView,
  PolicyView,
  RequestView,
  RequestRow,
  SeriesView,
  SessionView,
  SessionsView,
  StatementView,
  UsageView,
  WebhooksView,
} from '@sluice/contracts';
import { PolicyOverride, Policy } from '@sluice/contracts';
import { FIELD_PATHS } from '../policy/policy-fields.ts';
import { valueAt } from '../policy/override-fields.ts';

/*
 * Answers of the backend as its schemas have them, for tests of components and for looking at pages without a stack.
 */

/** Noon of a Sunday in UTC. */
export const NOW = Date.parse('2026-03-15T12:00:00.000Z');
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const DAY = 24 * 60;

export const SESSION: SessionView = {
  kind: 'person',
  userId: 'u1',
  email: 'ada@acme.example',
  roles: { 'acme-prod': 'admin', 'acme-staging': 'viewer' },
  permissions: {
    'acme-prod': [
      'usage:read',
      'cost:read',
      'trace:read',
      'policy:read',
      'policy:write',
      'keys:write',
      'members:write',
      'billing:read',
      'billing:write',
    ],
    'acme-staging': ['usage:read', 'policy:read'],
  },
};

const TOKENS = { input: 1_200_000, cache_read: 340_000, cache_write: 0, output: 410_000, reasoning: 0, audio: 0 };

export const OVERVIEW: OverviewView = {
  workspace: 'acme-prod',
  tenant: { id: 'acme', name: 'Acme' },
  plan: 'enterprise',
  seconds: Array.from({ length: 120 }, (_, index) => ({
    second: Math.floor(NOW / 1000) - 120 + index,
    outcomes: {
      ok: 18 + Math.round(9 * Math.sin(index / 9)),
      ...(index > 70 && index < 92 ? { throttled: 14 } : {}),
      ...(index % 17 === 0 ? { upstream_error: 2 } : {}),
    },
    tokens: 4000,
  })),
  totals: { outcomes: { ok: 2210, throttled: 294, upstream_error: 16 } },
  month: { calls: 48_211, tokens: TOKENS, billed_nanousd: 412_733_514_250 },
  limits: {
    requests: { per_second: 50, per_minute: null, burst: 100 },
    tokens: { per_minute: 3_000_000 },
    concurrency: { in_flight: 100, queued: 100 },
    quotas: [{ id: 'monthly-tokens', meter: 'total_tokens', span: 'calendar month', limit: 500_000_000, mode: 'soft' }],
  },
  quotas: [
    {
      id: 'monthly-tokens',
      level: 'tenant',
      meter: 'total_tokens',
      span: 'calendar month',
      mode: 'soft',
      limit: 500_000_000,
      used: 143_200_911,
      resets_at: '2026-04-01T00:00:00.000Z',
    },
    {
      id: 'daily-spend',
      level: 'workspace',
      meter: 'cost_nanousd',
      span: 'calendar day',
      mode: 'hard',
      limit: 50_000_000_000,
      used: 43_110_000_000,
      resets_at: '2026-03-16T00:00:00.000Z',
    },
    {
      id: 'burst-guard',
      level: 'workspace',
      meter: 'output_tokens',
      span: 'rolling 3600 s',
      mode: 'hard',
      limit: 200_000,
      used: 200_000,
      resets_at: null,
    },
  ],
  latency: { calls: 3122, p50_ms: 412, p95_ms: 1830, p99_ms: 4210 },
  kill_switches: [{ scope: 'provider', target: 'secondary', message: 'Maintenance until 14:00 UTC.' }],
  open_alerts: 2,
};

export function seriesOf(metric: SeriesView['metric']): SeriesView {
  const points = Array.from({ length: 144 }, (_, index) => {
    const gap = index > 40 && index < 52;
    const base =
      metric === 'latency_ms'
        ? 500 + 300 * Math.sin(index / 12) + (index === 100 ? 4000 : 0)
        : metric === 'failures'
          ? index % 23 === 0
            ? 14
            : 1
          : 220 + 120 * Math.sin(index / 14);
    return { at: ago(DAY - index * 10), value: gap && metric === 'latency_ms' ? null : gap ? 0 : Math.round(base) };
  });
  return { metric, from: ago(DAY), to: ago(0), step_s: 600, samples: 144, downsampled: false, points };
}

const MODELS_USED = ['sim-large', 'sim-medium', 'sim-small'] as const;
const FEATURES = ['chat', 'search', null] as const;

export function usageOf(by: UsageView['by']): UsageView {
  const points = Array.from({ length: 30 }, (_, day) =>
    MODELS_USED.map((model, index) => ({
      at: new Date(Date.parse('2026-02-14T00:00:00.000Z') + day * 86_400_000).toISOString(),
      model,
      feature: FEATURES[(day + index) % 3] ?? null,
      calls: 900 * (index + 1) + 30 * day,
      input_tokens: 400_000 + 12_000 * day,
      output_tokens: 90_000 * (3 - index),
      billed_nanousd: (3 - index) * 2_100_000_000 + day * 40_000_000,
    })),
  ).flat();
  const sums = (share: number) => ({
    calls: Math.round(170_000 * share),
    input_tokens: Math.round(52_000_000 * share),
    output_tokens: Math.round(16_200_000 * share),
    billed_nanousd: Math.round(410_114_250_733 * share),
  });
  const names: Record<UsageView['by'], readonly (readonly [string | null, string | null])[]> = {
    model: MODELS_USED.map((model) => [model, null]),
    feature: FEATURES.map((feature) => [feature, null]),
    key: [
      ['acmeKey00001', 'production backend'],
      ['acmeKey00002', null],
    ],
    end_user: [
      ['user-4711', null],
      ['user-12', null],
      [null, null],
    ],
    day: [
      ['2026-03-14T00:00:00.000Z', null],
      ['2026-03-13T00:00:00.000Z', null],
    ],
  };
  return {
    from: '2026-02-14T00:00:00.000Z',
    to: '2026-03-16T00:00:00.000Z',
    step: 'day',
    by,
    points,
    groups: [
      ...names[by].map(([key, name], index) => ({
        key,
        name,
        rest: false,
        ...sums([0.6, 0.25, 0.1][index] ?? 0.02),
        previous: index === 2 ? null : sums([0.5, 0.3, 0.1][index] ?? 0.02),
      })),
      { key: null, name: null, rest: true, ...sums(0.05), previous: sums(0.05) },
    ],
    totals: sums(1),
    previous: { from: '2026-01-15T00:00:00.000Z', to: '2026-02-14T00:00:00.000Z', ...sums(0.87) },
  };
}

const CALL: RequestRow = {
  id: 'c1',
  kind: 'call',
  request_id: 'req_01JQZ3W8K0AAAAAAAAAAAAAAAA',
  samples: [],
  count: 1,
  occurred_at: ago(1),
  model_requested: 'sim-large',
  model: 'sim-large',
  provider: 'primary',
  feature: 'chat',
  key_id: 'acmeKey00001',
  key_name: 'production backend',
  end_user: 'user-4711',
  outcome: 'ok',
  error_code: null,
  status: 200,
  tokens: { input: 812, cache_read: 200, cache_write: 0, output: 164, reasoning: 12, audio: 0 },
  billed_nanousd: 2_514_000,
  total_ms: 1240,
  ttfb_ms: 610,
  queue_ms: 0,
  stream: true,
  fallback: false,
  fallback_reason: null,
  limit: null,
  explanation: null,
};
const NONE = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };

export const REQUESTS: readonly RequestRow[] = [
  CALL,
  {
    ...CALL,
    id: 'c2',
    request_id: 'req_01JQZ3W8K0BBBBBBBBBBBBBBBB',
    occurred_at: ago(2),
    provider: 'secondary',
    fallback: true,
    fallback_reason: 'timeout',
    total_ms: 9310,
  },
  {
    ...CALL,
    id: 'r1',
    kind: 'refusals',
    request_id: null,
    samples: ['req_01JQZ3W8K0CCCCCCCCCCCCCCCC'],
    count: 14,
    occurred_at: ago(3),
    model: null,
    provider: null,
    outcome: 'throttled',
    error_code: 'throttled',
    status: 429,
    tokens: NONE,
    billed_nanousd: 0,
    total_ms: null,
    ttfb_ms: null,
    queue_ms: null,
    limit: { level: 'workspace', name: 'requests' },
    explanation: {
      why: 'More than 20 requests a second came from this workspace.',
      what_to_do: 'Spread calls out, wait as retry-after says, or have the limit raised under Limits and policy.',
    },
  },
  {
    ...CALL,
    id: 'c3',
    request_id: 'req_01JQZ3W8K0DDDDDDDDDDDDDDDD',
    occurred_at: ago(9),
    outcome: 'upstream_error',
    error_code: 'upstream_unavailable',
    status: 502,
    model: null,
    tokens: NONE,
    billed_nanousd: 0,
    total_ms: 2210,
    explanation: {
      why: 'No provider could answer the request.',
      what_to_do: 'Send the request again; the official SDKs do so on their own.',
    },
  },
];

export const REQUEST: RequestView = {
  ...(REQUESTS[1] as RequestRow),
  client_request_id: 'order-991',
  operation: 'chat',
  finish_reason: 'stop',
  usage_source: 'provider',
  cache: 'off',
  decision_id: null,
  price_version: 3,
  overhead_us: 412,
  tags: { team: 'growth' },
  attempts: [
    {
      provider: 'primary',
      model: 'sim-large',
      outcome: 'timeout',
      status: null,
      queue_ms: 0,
      ttfb_ms: null,
      duration_ms: 8000,
    },
    {
      provider: 'secondary',
      model: 'sim-large',
      outcome: 'ok',
      status: 200,
      queue_ms: 2,
      ttfb_ms: 590,
      duration_ms: 1290,
    },
  ],
};

export const KEYS: KeysView = {
  rows: [
    {
      key_id: 'acmeKey00001',
      name: 'production backend',
      created_at: ago(40 * DAY),
      expires_at: null,
      expired: false,
      allow_models: null,
      allow_addresses: null,
      limits: null,
    },
    {
      key_id: 'acmeKey00002',
      name: 'ci',
      created_at: ago(100 * DAY),
      expires_at: ago(10 * DAY),
      expired: true,
      allow_models: ['sim-small'],
      allow_addresses: ['203.0.113.0/24'],
      limits: { requests: { per_second: 2, per_minute: null, burst: 4 }, tokens: null, concurrency: null, quotas: [] },
    },
  ],
};

export const MODELS: ModelsView = {
  rows: [
    {
      id: 'sim-large',
      name: 'Simulated large',
      context_tokens: 200_000,
      max_output_tokens: 16_000,
      abilities: ['streaming'],
      price: { input_picousd: 3_000_000, output_picousd: 15_000_000 },
      retires_at: null,
      successor: null,
    },
    {
      id: 'sim-small',
      name: 'Simulated small',
      context_tokens: 64_000,
      max_output_tokens: 8_000,
      abilities: ['streaming'],
      price: { input_picousd: 150_000, output_picousd: 600_000 },
      retires_at: null,
      successor: null,
    },
  ],
};

const PLAN_POLICY = Policy.parse({
  limits: {
    requests: { perSecond: 50, burst: 100 },
    tokens: { perMinute: 3_000_000 },
    concurrency: { inFlight: 100, queued: 100 },
    quotas: [],
  },
  routing: { chain: [{ provider: 'primary' }, { provider: 'secondary' }, { provider: 'tertiary' }] },
  priority: 'high',
});

/** The policy as it is when the workspace overrides this, at this version. */
export function policyOf(given: unknown, version: number, mayWrite = true): PolicyView {
  const override = PolicyOverride.parse(given);
  const { maxPoolSharePercent: _ours, ...plan } = PLAN_POLICY;
  const effective = {
    ...plan,
    ...override,
    limits: { ...plan.limits, ...override.limits },
    routing: { ...plan.routing, ...override.routing },
    deadlines: { ...plan.deadlines, ...override.deadlines },
    retries: { ...plan.retries, ...override.retries },
    dataRules: { ...plan.dataRules, ...override.dataRules },
    cache: { ...plan.cache, ...override.cache },
  } as PolicyView['effective'];
  const fields: PolicyView['fields'] = FIELD_PATHS.map((path) => {
    const fixed = path === 'priority';
    return {
      path,
      source: valueAt(override, path) === undefined ? 'plan' : 'override',
      rule: fixed ? 'fixed' : path.startsWith('limits') ? 'stricter' : 'free',
      editable: mayWrite && !fixed,
      note: fixed ? 'Set by the plan.' : null,
    };
  });
  return { workspace: 'acme-prod', version, override, effective, plan: { id: 'enterprise', policy: plan }, fields };
}

export const MEMBERS: MembersView = {
  rows: [
    { member_id: 'm1', email: 'ada@acme.example', role: 'admin', status: 'active', you: true, expires_at: null },
    { member_id: 'm2', email: 'dev@acme.example', role: 'developer', status: 'active', you: false, expires_at: null },
    {
      member_id: 'm3',
      email: 'new@partner.example',
      role: 'viewer',
      status: 'invited',
      you: false,
      expires_at: ago(-7 * DAY),
    },
  ],
  roles: [
    { role: 'viewer', permissions: ['usage:read', 'policy:read'] },
    { role: 'developer', permissions: ['usage:read', 'trace:read', 'policy:read', 'keys:write'] },
    { role: 'finance', permissions: ['usage:read', 'cost:read', 'billing:read', 'billing:write'] },
    {
      role: 'admin',
      permissions: [
        'usage:read',
        'cost:read',
        'trace:read',
        'policy:read',
        'policy:write',
        'keys:write',
        'members:write',
        'billing:read',
        'billing:write',
      ],
    },
  ],
};

const STATEMENT: StatementView = {
  tenant: { id: 'acme', name: 'Acme' },
  month: '2026-03',
  time_zone: 'Europe/Berlin',
  from: '2026-02-28T23:00:00.000Z',
  to: '2026-03-31T22:00:00.000Z',
  closed: false,
  segments: [
    {
      from: '2026-02-28T23:00:00.000Z',
      to: '2026-03-31T22:00:00.000Z',
      plan: 'enterprise',
      plan_name: 'Enterprise',
      monthly_fee_nanousd: 2_000_000_000_000,
      fee_nanousd: 2_000_000_000_000,
      monthly_allotment_tokens: 500_000_000,
      allotment_tokens: 500_000_000,
      used_tokens: 512_400_000,
      overage_tokens: 12_400_000,
      overage_picousd_per_token: 4_000_000,
      overage_nanousd: 49_600_000_000,
    },
  ],
  usage: [
    { model: 'sim-large', calls: 21_000, tokens: 300_000_000, value_nanousd: 912_000_000_000 },
    { model: 'sim-small', calls: 90_000, tokens: 212_400_000, value_nanousd: 41_000_000_000 },
  ],
  fee_nanousd: 2_000_000_000_000,
  allotment_tokens: 500_000_000,
  used_tokens: 512_400_000,
  overage_tokens: 12_400_000,
  overage_nanousd: 49_600_000_000,
  overage_cap_nanousd: 250_000_000_000,
  waived_nanousd: 0,
  credits_nanousd: -5_000_000_000,
  total_nanousd: 2_044_600_000_000,
  total_usd: '2044.60',
};

export const BILLING: BillingView = {
  version: 3,
  plan: {
    id: 'enterprise',
    name: 'Enterprise',
    fee_nanousd: 2_000_000_000_000,
    allotment_tokens: 500_000_000,
    overage_picousd_per_token: 4_000_000,
  },
  statement: STATEMENT,
  overage_cap: { nanousd: 250_000_000_000, source: 'customer', refuses_at_tokens: 562_500_000, editable: true },
  forecast: {
    method: 'From the last 14 days, by day of the week.',
    tokens: { low: 900_000_000, expected: 1_010_000_000, high: 1_130_000_000 },
    total_nanousd: { low: 2_245_000_000_000, expected: 2_245_000_000_000, high: 2_245_000_000_000 },
    cap_reached_at: ago(-2 * DAY),
  },
  months: ['2026-03', '2026-02', '2026-01'],
};

export const ALERTS: AlertsView = {
  rows: [
    {
      alert_id: 'a1',
      kind: 'budget.80',
      severity: 'warning',
      subject: 'daily-spend',
      message: '86 % of $50.00 are used; the quota begins anew at midnight UTC.',
      raised_at: ago(70),
      ended_at: null,
    },
    {
      alert_id: 'a2',
      kind: 'kill_switch',
      severity: 'critical',
      subject: 'secondary',
      message: 'The provider secondary is switched off: Maintenance until 14:00 UTC.',
      raised_at: ago(30),
      ended_at: null,
    },
    {
      alert_id: 'a3',
      kind: 'key.expiring',
      severity: 'info',
      subject: 'ci',
      message: 'The key expires in 7 days.',
      raised_at: ago(17 * DAY),
      ended_at: ago(10 * DAY),
    },
  ],
  next_cursor: null,
};

export const WEBHOOKS: WebhooksView = {
  rows: [
    {
      webhook_id: 'w1',
      url: 'https://hooks.acme.example/sluice',
      kinds: null,
      enabled: true,
      created_at: ago(20 * DAY),
      last_delivery: { at: ago(30), state: 'delivered', status: 200 },
    },
  ],
};

export const DELIVERIES: DeliveriesView = {
  rows: [
    {
      delivery_id: 'd1',
      kind: 'kill_switch',
      created_at: ago(30),
      state: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      status: 200,
      error: null,
    },
    {
      delivery_id: 'd2',
      kind: 'budget.80',
      created_at: ago(70),
      state: 'waiting',
      attempts: 3,
      next_attempt_at: ago(-4),
      status: 503,
      error: 'The receiver answered 503.',
    },
  ],
};

export const SESSIONS: SessionsView = {
  rows: [
    {
      session_id: 's1',
      created_at: ago(200),
      last_used_at: ago(0),
      expires_at: ago(-280),
      address: '203.0.113.7',
      agent: 'Firefox on Linux',
      current: true,
    },
    {
      session_id: 's2',
      created_at: ago(2 * DAY),
      last_used_at: ago(DAY),
      expires_at: ago(-60),
      address: '198.51.100.2',
      agent: 'curl',
      current: false,
    },
  ],
};
