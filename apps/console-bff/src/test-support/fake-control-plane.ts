import { createServer, type IncomingMessage } from 'node:http';
import { OUTCOMES, PRINCIPAL_HEADER, type Clock, type Principal, type Role } from '@sluice/contracts';
import { listenOn, verifyPrincipal, type Listening } from '@sluice/service-kit';

export const BFF_TOKEN = 'token-of-the-bff-0123';
export const PRINCIPAL_KEY = 'principal-key-of-this-test';
export const PASSWORD = 'correct horse';

/** What must never reach a customer. */
export const SECRET_FIELD = 'internal_margin_usd';

const TOKENS = { input: 10, cache_read: 1, cache_write: 2, output: 5, reasoning: 3, audio: 0 };
const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 1]));

const BODIES: Record<string, (slug: string) => object> = {
  overview: (slug) => ({
    workspace: slug,
    tenant: {
      id: 'acme',
      name: 'Acme',
      plan: 'enterprise',
      limits: {
        requests: { perSecond: 50, burst: 100 },
        tokens: { perMinute: 3_000_000 },
        concurrency: { inFlight: 100, queued: 100 },
        quotas: [{ id: 'month', meter: 'total_tokens', span: { kind: 'calendar', period: 'month' }, limit: 500_000_000, mode: 'soft', alertAtPercent: [80] }],
      },
    },
    status: 'active',
    seconds: [1000, 1001].map((second) => ({ second, outcomes, tokens: 21, queue_ms_max: 1, queue_ms_mean: 1 })),
    month: { calls: 4, attempts: 5, tokens: TOKENS, billed_nanousd: 77, billed_usd: '0.000000077', outcomes },
  }),
  usage: () => ({
    points: [{ at: '2026-01-01T00:00:00.000Z', model: 'sim-large', feature: null, calls: 3, input_tokens: 13, output_tokens: 8, billed_nanousd: 77 }],
  }),
  requests: () => ({
    rows: [
      {
        request_id: 'req_1',
        occurred_at: '2026-01-01T00:00:00.000Z',
        model: 'sim-large',
        feature: null,
        outcome: 'ok',
        error_code: null,
        status: 200,
        tokens: TOKENS,
        billed_nanousd: 77,
        latency: { total_ms: 12.5, overhead_us: 3, queue_ms: 0, ttfb_ms: null },
        fallback: false,
        key_id: 'acmeKey00001',
      },
    ],
    next_cursor: 'c2',
  }),
  keys: (slug) => ({
    rows: [
      { keyId: 'acmeKey00001', name: 'old 77', workspace: slug, createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-02-01T00:00:00.000Z', tags: {} },
      { keyId: 'acmeKey00002', name: 'new', workspace: slug, createdAt: '2026-03-01T00:00:00.000Z', allowModels: ['sim-small'], limits: { requests: { perSecond: 1, burst: 1 }, quotas: [] }, tags: {} },
    ],
  }),
};

/** Adds the secret to every object, however deep. */
function poison(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(poison);
  if (typeof value !== 'object' || value === null) return value;
  return { ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, poison(inner)])), [SECRET_FIELD]: 12345 };
}

export interface FakeControlPlane extends Listening {
  /** `<method> <path>` of each call, in order. */
  readonly calls: string[];
  /** The principal of the last workspace call, as its signature proved it. */
  lastPrincipal: Principal | undefined;
  /** Answers every call so from now on. */
  failWith: { status: number; body: string; headers?: Record<string, string> } | undefined;
}

/** A control plane over a real socket whose people are `<role>@<workspace>`, and which tells too much on purpose. */
export async function startFakeControlPlane(clock: Pick<Clock, 'now'>): Promise<FakeControlPlane> {
  const calls: string[] = [];
  const state: { lastPrincipal: Principal | undefined; failWith: FakeControlPlane['failWith'] } = { lastPrincipal: undefined, failWith: undefined };

  function answerTo(req: IncomingMessage, body: string): { status: number; body?: unknown } {
    if (req.headers.authorization !== `Bearer ${BFF_TOKEN}`) return { status: 401 };
    if (req.url === '/internal/people/session') {
      const { email, password } = JSON.parse(body) as { email: string; password: string };
      if (password !== PASSWORD) return { status: 401 };
      const [role, slug = ''] = email.split('@') as [Role, string];
      return { status: 200, body: { kind: 'person', userId: `u-${email}`, email, roles: { [slug]: role }, [SECRET_FIELD]: 1 } };
    }
    const [, slug = '', what = ''] = /^\/internal\/workspaces\/([^/?]+)\/(\w+)/.exec(req.url ?? '') ?? [];
    state.lastPrincipal = verifyPrincipal(String(req.headers[PRINCIPAL_HEADER]), PRINCIPAL_KEY, clock);
    if (state.lastPrincipal === undefined) return { status: 401 };
    if (what === 'keys' && req.method === 'POST') {
      const { name, allowModels } = JSON.parse(body) as { name: string; allowModels?: string[] };
      if (allowModels?.includes('gone') === true) return { status: 400, body: poison({ title: 'No', errors: [{ path: 'allowModels.0', message: 'there is no model gone' }, { path: SECRET_FIELD, message: 'x' }] }) };
      return { status: 201, body: poison({ keyId: 'acmeKey00003', key: 'sk-sluice-acmeKey00003-77', name }) };
    }
    if (what === 'keys' && req.method === 'DELETE') return { status: req.url?.endsWith('/nosuchkey000') === true ? 404 : 204 };
    const make = BODIES[what];
    if (make === undefined || slug === 'gone-prod') return { status: 404 };
    return { status: 200, body: poison(make(slug)) };
  }

  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      calls.push(`${req.method} ${req.url}`);
      if (state.failWith !== undefined) {
        res.writeHead(state.failWith.status, state.failWith.headers).end(state.failWith.body);
        return;
      }
      const answer = answerTo(req, body);
      res.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body ?? {}));
    });
  });
  const listening = await listenOn(server, { host: '127.0.0.1', port: 0, graceMs: 10 });
  return Object.assign(state, listening, { calls });
}
