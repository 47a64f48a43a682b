import {
  OUTCOMES,
  Policy,
  ROLE_PERMISSIONS,
  type BillingView,
  type PolicyView,
  type RequestRow,
  type StatementView,
} from '@sluice/contracts';

const TOKENS = { input: 10, cache_read: 1, cache_write: 2, output: 5, reasoning: 3, audio: 0 };
const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 2]));
const AT = '2026-01-01T00:00:00.000Z';
const sums = { calls: 3, input_tokens: 13, output_tokens: 8, billed_nanousd: 77 };

export const REQUEST_ID = 'req_01JZZZZZZZZZZZZZZZZZZZZZZZ';

const row: RequestRow = {
  id: `${REQUEST_ID}.settled`,
  kind: 'call',
  request_id: REQUEST_ID,
  samples: [],
  count: 1,
  occurred_at: AT,
  model_requested: 'sim-large',
  model: 'sim-large',
  provider: 'primary',
  feature: null,
  key_id: 'acmeKey00001',
  key_name: 'ci',
  end_user: null,
  outcome: 'timeout',
  error_code: 'upstream_timeout',
  status: 504,
  tokens: TOKENS,
  billed_nanousd: 77,
  total_ms: 12.5,
  ttfb_ms: 3,
  queue_ms: 0,
  stream: false,
  fallback: false,
  fallback_reason: null,
  limit: { level: 'tenant', name: 'requests' },
  explanation: { why: 'because', what_to_do: 'wait' },
};

const policy = Policy.parse({
  limits: {
    requests: { perSecond: 50, burst: 77 },
    quotas: [
      { id: 'month', meter: 'total_tokens', span: { kind: 'calendar', period: 'month' }, limit: 5, mode: 'soft' },
    ],
  },
  routing: {
    chain: [{ provider: 'primary' }],
    aliases: { fast: 'sim-small' },
    features: { search: { model: 'sim-small' } },
  },
});
const { maxPoolSharePercent: _ours, ...shownPolicy } = policy;
const override = { limits: { requests: { perSecond: 5, burst: 5 } }, deadlines: { totalMs: 30_000 } };

export const policyBody = (slug: string): PolicyView => ({
  workspace: slug,
  version: 7,
  override,
  effective: { ...shownPolicy, deadlines: { ...policy.deadlines, totalMs: 30_000 } },
  plan: { id: 'enterprise', policy: shownPolicy },
  fields: [{ path: 'limits.requests', source: 'override', rule: 'stricter', editable: true, note: null }],
});

export const conflictBody = (slug: string) => ({
  base: { version: 6, override: {} },
  current: policyBody(slug),
  conflicts: ['deadlines.totalMs'],
});

const statement: StatementView = {
  tenant: { id: 'acme', name: 'Acme' },
  month: '2026-01',
  time_zone: 'UTC',
  from: AT,
  to: '2026-02-01T00:00:00.000Z',
  closed: false,
  segments: [
    {
      from: AT,
      to: '2026-02-01T00:00:00.000Z',
      plan: 'enterprise',
      plan_name: 'Enterprise',
      monthly_fee_nanousd: 70,
      fee_nanousd: 70,
      monthly_allotment_tokens: 5,
      allotment_tokens: 5,
      used_tokens: 6,
      overage_tokens: 1,
      overage_picousd_per_token: 7000,
      overage_nanousd: 7,
    },
  ],
  usage: [{ model: 'sim-large', calls: 1, tokens: 6, value_nanousd: 77 }],
  fee_nanousd: 70,
  allotment_tokens: 5,
  used_tokens: 6,
  overage_tokens: 1,
  overage_nanousd: 7,
  overage_cap_nanousd: 100,
  waived_nanousd: 0,
  credits_nanousd: 0,
  total_nanousd: 77,
  total_usd: '0.000000077',
};

const billing: BillingView = {
  version: 4,
  plan: { id: 'enterprise', name: 'Enterprise', fee_nanousd: 70, allotment_tokens: 5, overage_picousd_per_token: 7000 },
  statement,
  overage_cap: { nanousd: 100, source: 'plan', refuses_at_tokens: 19, editable: true },
  forecast: {
    method: 'mean',
    tokens: { low: 6, expected: 7, high: 8 },
    total_nanousd: { low: 77, expected: 84, high: 91 },
    cap_reached_at: null,
  },
  months: ['2026-01'],
};

const webhook = (id: string) => ({
  webhook_id: id,
  url: 'https://hooks.example/77',
  kinds: null,
  enabled: true,
  created_at: AT,
  last_delivery: { at: AT, state: 'delivered', status: 200 },
});
const deliveries = {
  rows: [
    {
      delivery_id: 'dlv_77',
      kind: 'webhook.test',
      created_at: AT,
      state: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      status: 200,
      error: null,
    },
  ],
};

/** What the control plane answers, by method and first part of the path below the workspace. */
export const BODIES: Readonly<
  Record<string, (slug: string, rest: string) => { status?: number; body: object; etag?: string } | undefined>
> = {
  'GET overview': (slug) => ({
    body: {
      workspace: slug,
      tenant: { id: 'acme', name: 'Acme' },
      plan: 'enterprise',
      seconds: [1000, 1001].map((second) => ({ second, outcomes, tokens: 21, queue_ms_max: 1 })),
      totals: { outcomes },
      month: { calls: 4, tokens: TOKENS, billed_nanousd: 77, billed_usd: '0.000000077' },
      limits: {
        requests: { per_second: 50, per_minute: null, burst: 100 },
        tokens: { per_minute: 3_000_000 },
        concurrency: { in_flight: 100, queued: 100 },
        quotas: [
          { id: 'month', meter: 'total_tokens', span: 'calendar month', limit: 500, mode: 'soft' },
          { id: 'money', meter: 'cost_nanousd', span: 'calendar month', limit: 770, mode: 'hard' },
        ],
      },
      quotas: [
        {
          id: 'month',
          level: 'tenant',
          meter: 'total_tokens',
          span: 'calendar month',
          mode: 'soft',
          limit: 500,
          used: 5,
          resets_at: AT,
        },
        {
          id: 'money',
          level: 'tenant',
          meter: 'cost_nanousd',
          span: 'calendar month',
          mode: 'hard',
          limit: 770,
          used: 77,
          resets_at: AT,
        },
      ],
      latency: { calls: 9, p50_ms: 1, p95_ms: 2, p99_ms: 3 },
      kill_switches: [{ scope: 'all', target: null, message: 'maintenance' }],
      open_alerts: 1,
    },
  }),
  'GET usage': () => ({
    body: {
      from: AT,
      to: '2026-01-02T00:00:00.000Z',
      step: 'hour',
      by: 'model',
      points: [{ at: AT, model: 'sim-large', feature: null, ...sums }],
      groups: [{ key: '=1+1', name: null, rest: false, ...sums, previous: sums }],
      totals: sums,
      previous: { from: AT, to: AT, ...sums },
    },
  }),
  'GET series': () => ({
    body: {
      metric: 'calls',
      from: AT,
      to: AT,
      step_s: 60,
      samples: 2,
      downsampled: false,
      points: [
        { at: AT, value: 77 },
        { at: AT, value: null },
      ],
    },
  }),
  'GET models': () => ({
    body: {
      rows: [
        {
          id: 'sim-77',
          name: 'Large',
          context_tokens: 1,
          max_output_tokens: 1,
          abilities: ['chat'],
          price: { input_picousd: 78, output_picousd: 79 },
          retires_at: null,
          successor: null,
        },
      ],
    },
  }),
  'GET requests': (_slug, rest) => {
    if (rest === '') return { body: { rows: [row], next_cursor: 'c2' } };
    if (rest !== REQUEST_ID) return undefined;
    return {
      body: {
        ...row,
        client_request_id: null,
        operation: 'chat',
        finish_reason: 'stop',
        usage_source: 'provider',
        cache: 'off',
        decision_id: null,
        price_version: 1,
        overhead_us: 9,
        tags: { team: 'a' },
        attempts: [
          {
            provider: 'primary',
            model: 'sim-large',
            outcome: 'ok',
            status: 200,
            queue_ms: 0,
            ttfb_ms: 1,
            duration_ms: 2,
            cost_nanousd: 55,
            credential: 'ours',
          },
        ],
      },
    };
  },
  'GET policy': (slug) => ({ body: policyBody(slug), etag: '"7"' }),
  'PUT policy': (slug) => ({ body: policyBody(slug), etag: '"8"' }),
  'GET keys': (slug) => ({
    body: {
      rows: [
        {
          keyId: 'acmeKey00001',
          name: 'old 77',
          workspace: slug,
          createdAt: AT,
          expiresAt: '2026-02-01T00:00:00.000Z',
          tags: {},
        },
        {
          keyId: 'acmeKey00002',
          name: 'new',
          workspace: slug,
          createdAt: '2026-03-01T00:00:00.000Z',
          allowModels: ['sim-small'],
          limits: { requests: { perSecond: 1, burst: 1 }, quotas: [] },
          tags: {},
        },
      ],
    },
  }),
  'GET members': () => ({
    body: {
      rows: [
        {
          member_id: 'u77',
          email: 'a@acme.test',
          role: 'admin',
          status: 'active',
          you: true,
          expires_at: null,
          password_hash: 'x',
        },
      ],
      roles: [{ role: 'viewer', permissions: [...ROLE_PERMISSIONS.viewer] }],
    },
  }),
  'POST members': () => ({
    status: 201,
    body: {
      member_id: 'u77',
      email: 'b@acme.test',
      role: 'viewer',
      status: 'invited',
      invitation: 'i'.repeat(43),
      expires_at: AT,
    },
  }),
  'PUT members': (_slug, id) => ({ body: { member_id: id.replace('acmeKey00001', 'u77'), role: 'viewer' } }),
  'DELETE members': () => ({ status: 204, body: {} }),
  'GET billing': (_slug, rest) => ({ body: rest === 'statement' ? statement : billing, etag: '"4"' }),
  'PUT billing': () => ({ body: billing, etag: '"5"' }),
  'GET alerts': () => ({
    body: {
      rows: [
        {
          alert_id: 'alert_77',
          kind: 'budget.80',
          severity: 'warning',
          subject: 'tenant month',
          message: 'much',
          raised_at: AT,
          ended_at: null,
        },
      ],
      next_cursor: null,
    },
  }),
  'GET webhooks': (_slug, rest) => ({ body: rest === '' ? { rows: [webhook('wh_1')] } : deliveries }),
  'POST webhooks': (_slug, rest) =>
    rest === '' ? { status: 201, body: { ...webhook('wh_1'), secret: 'whsec_77' } } : { body: deliveries },
  'PUT webhooks': () => ({ body: webhook('wh_1') }),
  'DELETE webhooks': () => ({ status: 204, body: {} }),
};
