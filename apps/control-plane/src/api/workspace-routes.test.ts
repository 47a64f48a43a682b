import { createHash } from 'node:crypto';
import { signPrincipal } from '@sluice/service-kit';
import {
  BillingView,
  KeySpend,
  MembersView,
  ModelsView,
  OverviewView,
  PolicyView,
  RequestsView,
  systemClock,
  UsageView,
  type LedgerRow,
  type Principal,
  type Role,
} from '@sluice/contracts';
import { memoryTenantPorts } from '../testing/memory-tenant-ports.ts';
import { createMemoryConfigRepository } from '../config/memory-config-repository.ts';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';
import { MAX_KEYS } from './key-routes.ts';

/** No date, id or other number of an answer contains these digits. */
const COST_NANOUSD = 777_313_777_313;
const BILLED_NANOUSD = 999_414_999_414;

let test: TestPlane;
let asked: (string | undefined)[];
const memory = memoryTenantPorts(createMemoryConfigRepository());
beforeAll(async () => {
  asked = [];
  test = await startTestPlane({
    tenant: {
      ...memory,
      figures: {
        ...memory.figures,
        requests: async ({ workspace }) => {
          asked.push(workspace);
          return { found: [{ kind: 'call', row }], next_cursor: null };
        },
        usageGroups: (range) => {
          asked.push(range.workspace);
          return memory.figures.usageGroups(range);
        },
        latency: async (workspace) => {
          asked.push(workspace);
          return null;
        },
      },
    },
    ledger: {
      rows: async () => ({ rows: [row], next_cursor: null }),
      summary: async ({ workspace, key }) => {
        asked.push(key === undefined ? workspace : `${workspace}/${key}`);
        return {
          calls: 1,
          attempts: 1,
          tokens: row.tokens,
          cost_nanousd: COST_NANOUSD,
          cost_usd: '777.313777313',
          billed_nanousd: BILLED_NANOUSD,
          billed_usd: '999.414999414',
          outcomes: { ok: 1 },
        };
      },
      usage: async ({ workspace }) => {
        asked.push(workspace);
        return [];
      },
      watermarks: async () => [],
      quotaUse: async () => ({ spans: [] }),
      quotaAudit: async ({ levels }) => ({
        levels: levels.map(({ spans }) => ({ held: true, spans: spans.map(() => []) })),
      }),
      corrections: async () => ({ keys: [] }),
    },
  });
});
afterAll(() => test.close());

const row: LedgerRow = {
  kind: 'call',
  corrects: null,
  reason: null,
  tags: {},
  cache: 'off',
  event_id: 'e',
  request_id: 'r',
  occurred_at: '2026-01-01T00:00:00.000Z',
  gateway_id: 'gw-1',
  epoch: 1,
  sequence: 1,
  tenant: 'acme',
  workspace: 'acme-prod',
  key_id: 'acmeKey00001',
  operation: 'chat',
  stream: false,
  model_requested: 'sim-small',
  model: 'sim-small',
  provider: 'primary',
  outcome: 'ok',
  error_code: null,
  status: 200,
  abort_case: 'complete',
  fallback: false,
  fallback_reason: null,
  feature: null,
  end_user: null,
  tokens: { input: 1, cache_read: 0, cache_write: 0, output: 1, reasoning: 0, audio: 0 },
  usage_source: 'provider',
  cost_nanousd: COST_NANOUSD,
  billed_nanousd: BILLED_NANOUSD,
  price_version: 1,
  latency: { overhead_us: 1, queue_ms: 0, ttfb_ms: 1, total_ms: 1 },
  attempts: [],
};

function as(role: Role | undefined, key = 'principal-key'): Record<string, string> {
  const principal: Principal = {
    kind: 'person',
    userId: 'u1',
    email: 'ada@acme.test',
    roles: role === undefined ? {} : { 'acme-prod': role },
  };
  return { authorization: 'Bearer bff-token', 'x-sluice-principal': signPrincipal(principal, key, systemClock) };
}

const statusOf = async (
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<number> => (await test.call(method, `/internal/workspaces/${path}`, body, headers)).status;

describe("what the console backend asks in a person's name", () => {
  it('is answered for a workspace where the person has a role, and asks the ledger for that one only', async () => {
    asked = [];
    for (const path of ['overview', 'usage', 'requests'])
      expect(await statusOf('GET', `acme-prod/${path}`, as('developer'))).toBe(200);
    expect(new Set(asked)).toEqual(new Set(['acme-prod']));
    expect(asked.length).toBeGreaterThan(3);
  });

  it("another tenant's workspace answers 404 exactly like one that does not exist", async () => {
    for (const path of [
      'overview',
      'usage',
      'requests',
      'requests/req_01JZZZZZZZZZZZZZZZZZZZZZZZ',
      'series?metric=calls',
      'models',
      'policy',
      'keys',
      'members',
      'billing',
      'billing/statement?month=2026-01',
      'alerts',
      'webhooks',
    ]) {
      const bodies = await Promise.all(
        ['initech-prod', 'nowhere'].map(async (slug) => {
          const res = await test.call('GET', `/internal/workspaces/${slug}/${path}`, undefined, as('admin'));
          const { request_id: _id, ...body } = (await res.json()) as Record<string, unknown>;
          return { status: res.status, body };
        }),
      );
      expect(bodies[0]).toEqual({ status: 404, body: { type: 'about:blank', title: 'Not found', status: 404 } });
      expect(bodies[1]).toEqual(bodies[0]);
    }
    expect(await statusOf('PUT', 'initech-prod/policy', as('admin'), {})).toBe(404);
    expect(await statusOf('POST', 'initech-prod/keys', as('admin'), { name: 'x' })).toBe(404);
    expect(await statusOf('DELETE', 'initech-prod/keys/acmeKey00001', as('admin'))).toBe(404);
  });

  it('a role without the permission changes nothing', async () => {
    expect(await statusOf('PUT', 'acme-prod/policy', as('developer'), { priority: 'low' })).toBe(403);
    expect(await statusOf('POST', 'acme-prod/keys', as('viewer'), { name: 'x' })).toBe(403);
    expect(await statusOf('GET', 'acme-prod/requests', as('viewer'))).toBe(403);
    expect(await statusOf('PUT', 'acme-prod/policy', as('finance'), {})).toBe(403);
  });

  it('a workspace has only so many keys: every gateway holds them all', async () => {
    const { keys } = test.plane.store.snapshot();
    const own = Object.values(keys).filter(({ workspace }) => workspace === 'acme-prod');
    const [key] = own;
    if (key === undefined) throw new Error('the demo has a key');
    const more = Array.from({ length: MAX_KEYS - 1 - own.length }, (_, n) => ({
      ...key,
      keyId: `fill${String(n).padStart(8, '0')}`,
      digest: createHash('sha256').update(String(n)).digest('hex'),
    }));
    await test.plane.store.change({
      changes: more.map((value) => ({ table: 'keys', id: value.keyId, value })),
      audit: () => [],
    });
    expect(await statusOf('POST', 'acme-prod/keys', as('developer'), { name: 'last' })).toBe(201);
    expect(await statusOf('POST', 'acme-prod/keys', as('developer'), { name: 'one too many' })).toBe(409);
    await test.plane.store.change({
      changes: more.map(({ keyId }) => ({ table: 'keys', id: keyId })),
      audit: () => [],
    });
    expect(await statusOf('POST', 'acme-prod/keys', as('developer'), { name: 'again' })).toBe(201);
  });

  it('latencies, which read every row, reach no further back than other questions of that kind', async () => {
    const series = (metric: string, from: string) =>
      statusOf('GET', `acme-prod/series?metric=${metric}&from=${from}&to=2026-03-01T00:00:00.000Z`, as('viewer'));
    expect(await series('latency_ms', '2025-12-01T00:00:00.000Z')).toBe(400);
    expect([
      await series('latency_ms', '2026-02-01T00:00:00.000Z'),
      await series('calls', '2025-12-01T00:00:00.000Z'),
    ]).toEqual([200, 200]);
  });

  it('a principal that the backend has not signed is refused', async () => {
    expect(await statusOf('GET', 'acme-prod/overview', as('admin', 'another-key'))).toBe(401);
    expect(await statusOf('GET', 'acme-prod/overview', { authorization: 'Bearer bff-token' })).toBe(401);
  });

  it('is what customers see, by the shared schemas to the last field', async () => {
    const get = async (path: string, role: Role = 'admin'): Promise<unknown> =>
      (await test.call('GET', `/internal/workspaces/acme-prod/${path}`, undefined, as(role))).json();
    const overview = OverviewView.parse(await get('overview'));
    expect(overview).toMatchObject({
      workspace: 'acme-prod',
      tenant: { id: 'acme' },
      plan: 'enterprise',
      month: { calls: 1, billed_nanousd: BILLED_NANOUSD },
    });
    expect(overview.seconds).toHaveLength(120);
    expect(UsageView.parse(await get('usage?step=day'))).toMatchObject({ points: [], step: 'day' });
    expect(RequestsView.parse(await get('requests?limit=10')).rows).toMatchObject([
      { request_id: 'r', billed_nanousd: BILLED_NANOUSD, key_name: 'demo', explanation: null },
    ]);
    expect(ModelsView.parse(await get('models')).rows.map(({ id }) => id)).toEqual(['sim-large', 'sim-small']);
    expect(MembersView.parse(await get('members')).rows).toEqual([]);
    expect(BillingView.parse(await get('billing'))).toMatchObject({ plan: { id: 'enterprise' } });
    expect(PolicyView.parse(await get('policy'))).toMatchObject({ workspace: 'acme-prod', override: {} });
  });

  it('has no money for a role that may not read cost, whatever the backend shows', async () => {
    for (const [role, path] of [
      ['viewer', 'overview'],
      ['viewer', 'usage'],
      ['developer', 'requests'],
      ['viewer', 'models'],
    ] as const) {
      expect(
        await (await test.call('GET', `/internal/workspaces/acme-prod/${path}`, undefined, as(role))).text(),
      ).not.toMatch(new RegExp(`${BILLED_NANOUSD}|999\\.414999414|input_picousd`));
    }
    expect(await statusOf('GET', 'acme-prod/series?metric=billed_nanousd', as('viewer'))).toBe(403);
    expect(await statusOf('GET', 'acme-prod/series?metric=billed_nanousd', as('finance'))).toBe(200);
  });

  it('never shows what a provider charges us', async () => {
    for (const path of ['overview', 'requests']) {
      const text = await (
        await test.call('GET', `/internal/workspaces/acme-prod/${path}`, undefined, as('admin'))
      ).text();
      expect(text).toContain(String(BILLED_NANOUSD));
      expect(text).not.toContain(String(COST_NANOUSD));
    }
  });
});

describe('the spend of a key', () => {
  const spend = (keyId: string, token: string): Promise<Response> =>
    fetch(`${test.url}/internal/keys/${keyId}/spend`, { headers: { authorization: `Bearer ${token}` } });

  it("is told to a gateway, with its workspace's, and without what providers charge us", async () => {
    asked.length = 0;
    const answer = await spend('acmeKey00001', 'gateway-token');
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(asked.toSorted()).toEqual(['acme-prod', 'acme-prod/acmeKey00001']);
    expect(KeySpend.parse(JSON.parse(text)).key.billed_nanousd).toBe(BILLED_NANOUSD);
    expect(text).not.toContain(String(COST_NANOUSD));
  });

  it('is a 404 for a key that does not exist and a 401 for anybody but a gateway', async () => {
    expect((await spend('nobodysKey01', 'gateway-token')).status).toBe(404);
    expect((await spend('__proto__', 'gateway-token')).status).toBe(404);
    expect((await spend('acmeKey00001', 'guess')).status).toBe(401);
  });
});
