import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HEADER } from '@sluice/contracts';
import { type GatewayUnderTest, startGateway } from '../../testing/gateway-under-test.ts';
import { type RawSnapshot, SAMPLE_KEYS } from '../../testing/sample-snapshot.ts';
import { type ScriptedUpstream, type Script, scripts, startScriptedUpstream } from '../../testing/scripted-upstream.ts';

/** The healthy tenant and two whose calls the provider refuses, as the provider knows them. */
const MARKER = {
  '00000000-0000-4000-8000-000000000001': 'acme',
  '00000000-0000-4000-8000-000000000002': 'globex',
  '00000000-0000-4000-8000-000000000004': 'umbrella',
} as const;
type Tenant = 'acme' | 'globex' | 'umbrella';
const KEYS: Record<Tenant, string> = {
  acme: SAMPLE_KEYS.acme,
  globex: SAMPLE_KEYS.globex,
  umbrella: `sk-sluice-umbrellakey1-${'g'.repeat(32)}`,
};
const LIMITED = scripts.status(429, undefined, { 'retry-after': '30' });
const FORBIDDEN = scripts.status(403);

let upstream: ScriptedUpstream;
let gateway: GatewayUnderTest;
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

async function start(answer: (tenant: Tenant, model: string) => Script, primary: object): Promise<void> {
  upstream = await startScriptedUpstream((response, request, body) =>
    answer(tenantOf(request), (JSON.parse(body) as { model: string }).model)(response, request, body),
  );
  gateway = await startGateway({ primary: upstream.url, change: (raw) => configure(raw, primary) });
}

function tenantOf({ headers }: IncomingMessage): Tenant {
  return MARKER[headers[HEADER.tenantMarker] as keyof typeof MARKER];
}

function configure(raw: RawSnapshot, primary: object): void {
  Object.assign(raw.providers.primary as object, { credentials: [{ id: 'a', slots: 100 }], ...primary });
  const team = raw.plans.team as { policy: Record<string, unknown> };
  raw.plans.enterprise = { ...structuredClone(team), id: 'enterprise' };
  (raw.plans.enterprise as typeof team).policy.priority = 'high';
  Object.assign(raw.tenants.acme as object, { plan: 'enterprise' });
  raw.tenants.umbrella = { ...raw.tenants.globex, id: 'umbrella', name: 'umbrella' };
  raw.workspaces['umbrella-prod'] = {
    ...raw.workspaces['globex-prod'],
    slug: 'umbrella-prod',
    uuid: '00000000-0000-4000-8000-000000000004',
    tenant: 'umbrella',
  };
  raw.keys.umbrellakey1 = {
    ...raw.keys.globexkey01,
    keyId: 'umbrellakey1',
    workspace: 'umbrella-prod',
    digest: createHash('sha256').update(KEYS.umbrella).digest('hex'),
  };
}

async function call(tenant: Tenant, model = 'sim-large', signal?: AbortSignal): Promise<Response> {
  const answer = await gateway.chat(
    // The same cost for all: what a call is expected to use decides whose turn it is.
    { model, max_tokens: 10 },
    { headers: { authorization: `Bearer ${KEYS[tenant]}` }, ...(signal === undefined ? {} : { signal }) },
  );
  await answer.arrayBuffer();
  return answer;
}

const statusOf = async (tenant: Tenant, model?: string): Promise<number> => (await call(tenant, model)).status;
const sentBy = (tenant: Tenant): number =>
  upstream.requests.filter(({ headers }) => {
    const at = headers.findIndex((name) => name.toLowerCase() === HEADER.tenantMarker);
    return MARKER[headers[at + 1] as keyof typeof MARKER] === tenant;
  }).length;

describe('what one tenant meets at a shared account', () => {
  it("as a 429 rests that tenant on that model: its neighbour's calls are served, on that model and on others", async () => {
    await start((tenant) => (tenant === 'globex' ? LIMITED : scripts.whole), {});
    expect(await Promise.all([1, 2, 3].map(() => statusOf('globex')))).toEqual([429, 429, 429]);
    for (let i = 0; i < 10; i += 1)
      expect([await statusOf('acme', 'sim-large'), await statusOf('acme', 'sim-small')]).toEqual([200, 200]);
    const sent = sentBy('globex');
    const refused = await call('globex');
    expect([refused.status, sentBy('globex')]).toEqual([429, sent]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(25);
    expect(gateway.capacity.report()[0]).toMatchObject({
      state: 'ok',
      rests: [{ kind: 'limited', tenant: 'globex', model: 'sim-large' }],
    });
  });

  it("as a 403, however often, takes none of a neighbour's calls", async () => {
    await start((tenant) => (tenant === 'globex' ? FORBIDDEN : scripts.whole), {});
    for (let i = 0; i < 30; i += 1) {
      expect([await statusOf('globex', i % 2 === 0 ? 'sim-large' : 'sim-small'), await statusOf('acme')]).toEqual([
        502, 200,
      ]);
    }
    expect(sentBy('globex')).toBe(2);
  });

  it('and another beside it, with 429 and 403 in turn on every model, takes none of those of a third that is served', async () => {
    let turn = 0;
    await start((tenant) => (tenant === 'acme' ? scripts.whole : (turn += 1) % 2 === 0 ? LIMITED : FORBIDDEN), {});
    // The third has no history when it begins.
    for (const tenant of ['globex', 'umbrella'] as const)
      for (const model of ['sim-large', 'sim-small']) await statusOf(tenant, model);
    const statuses = new Set<number>();
    for (let i = 0; i < 40; i += 1) {
      statuses.add(await statusOf('acme', i % 2 === 0 ? 'sim-large' : 'sim-small'));
      const refused = await call(i % 3 === 0 ? 'globex' : 'umbrella', i % 5 === 0 ? 'sim-small' : 'sim-large');
      expect(refused.status).toBeGreaterThanOrEqual(429);
    }
    expect([...statuses]).toEqual([200]);
  });

  it('says nothing of another tenant to the customer', async () => {
    await start(() => LIMITED, {});
    await statusOf('globex');
    await statusOf('umbrella');
    const answer = await gateway.chat({ model: 'sim-large' });
    expect(`${await answer.text()}${JSON.stringify([...answer.headers])}`).not.toMatch(/globex|umbrella/);
  });
});

it('a key that the provider does not take is the account’s for everybody, at once', async () => {
  await start(() => scripts.status(401), {});
  expect([await statusOf('globex'), await statusOf('acme', 'sim-small')]).toEqual([502, 502]);
  expect([upstream.requests.length, gateway.accounts.length]).toEqual([1, 1]);
  expect(gateway.capacity.report()[0]).toMatchObject({ state: 'account_fault', rests: [{ status: 401 }] });
});

it('a 429 that says that nothing remains rests the model for everybody, and teaches its rate', async () => {
  const spent = scripts.status(429, undefined, { 'retry-after': '30', 'x-ratelimit-remaining-requests': '0' });
  await start((tenant, model) => (tenant === 'globex' && model === 'sim-large-v1' ? spent : scripts.whole), {});
  for (let i = 0; i < 3; i += 1) expect(await statusOf('acme')).toBe(200);
  expect(await statusOf('globex')).toBe(429);
  const sent = upstream.requests.length;
  expect([await statusOf('acme'), upstream.requests.length, await statusOf('acme', 'sim-small')]).toEqual([
    429,
    sent,
    200,
  ]);
  expect(gateway.capacity.report()[0]).toMatchObject({
    rests: [{ kind: 'limited', model: 'sim-large' }, { tenant: 'globex' }],
    rates: [{ from: 'learned', model: 'sim-large' }],
  });
});

it('a 403 for want of money is the account’s at once', async () => {
  const broke = scripts.status(403, '{"error":{"code":"insufficient_quota","message":"no"}}');
  await start((tenant) => (tenant === 'globex' ? broke : scripts.whole), {});
  expect([await statusOf('globex'), await statusOf('acme')]).toEqual([502, 502]);
});

it('an account at its limit is shared: a burst waits in our queue, the provider refuses nothing, the neighbour is served', async () => {
  // The provider's own limit: 80 at once, fewer than come, and 10 a second.
  let level = 80;
  let filledAt = Date.now();
  let refused = 0;
  const enforce: Script = (response, request, body) => {
    const now = Date.now();
    level = Math.min(80, level + (now - filledAt) / 100);
    filledAt = now;
    const serves = level >= 1;
    if (serves) level -= 1;
    else refused += 1;
    (serves ? scripts.whole : LIMITED)(response, request, body);
  };
  await start(() => enforce, { credentials: [{ id: 'a', slots: 100, requestsPerMinute: 600 }] });
  const leaving = new AbortController();
  const bursts = (['globex', 'umbrella'] as const).flatMap((tenant) =>
    Array.from({ length: 80 }, () => call(tenant, 'sim-large', leaving.signal).catch(() => undefined)),
  );
  const statuses: number[] = [];
  for (let i = 0; i < 12; i += 1) statuses.push(await statusOf('acme'));
  expect(statuses).toEqual(Array.from({ length: 12 }, () => 200));
  expect(refused).toBe(0);
  expect(sentBy('globex') + sentBy('umbrella')).toBeGreaterThanOrEqual(52);
  expect(Math.min(sentBy('globex'), sentBy('umbrella'))).toBeGreaterThanOrEqual(2);
  leaving.abort();
  await Promise.all(bursts);
});

describe('a standard pool that melts', () => {
  const hangs = (tenant: Tenant): Script => (tenant === 'acme' ? scripts.whole : scripts.hang);

  it.each([
    [
      'a pool of its own',
      [
        { id: 'shared', slots: 4, tiers: ['standard', 'low'] },
        { id: 'enterprise', slots: 4, tiers: ['critical', 'high'] },
      ],
      4,
    ],
    ['reserved slots', [{ id: 'shared', slots: 8, reserved: { priority: 'high', slots: 4 } }], 4],
  ])('leaves the enterprise tier unchanged where that has %s', async (_what, credentials, melted) => {
    await start(hangs, { credentials });
    const leaving = new AbortController();
    const hanging = (['globex', 'umbrella'] as const).flatMap((tenant) =>
      Array.from({ length: 6 }, () => call(tenant, 'sim-large', leaving.signal).catch(() => undefined)),
    );
    while (sentBy('globex') + sentBy('umbrella') < melted) await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 5; i += 1) {
      const answer = await call('acme');
      expect([answer.status, answer.headers.get('x-sluice-queue-ms')]).toEqual([200, '0.0']);
    }
    expect(sentBy('globex') + sentBy('umbrella')).toBe(melted);
    leaving.abort();
    await Promise.all(hanging);
  });
});
