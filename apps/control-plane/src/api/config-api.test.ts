import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

let test: TestPlane;
beforeEach(async () => {
  test = await startTestPlane();
});
afterEach(() => test.close());

interface Answer {
  status: number;
  etag: string | null;
  body: Record<string, unknown> & { errors?: { path: string; message: string }[]; detail?: string };
}

async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
  const res = await test.call(method, path, body, headers);
  const text = await res.text();
  return {
    status: res.status,
    etag: res.headers.get('etag'),
    body: text === '' ? {} : (JSON.parse(text) as Answer['body']),
  };
}

const pathsOf = (answer: Answer): string[] => (answer.body.errors ?? []).map((fault) => fault.path);
/** Replaces whatever is there. */
const write = (path: string, body: unknown): Promise<Answer> => call('PUT', path, body, { 'if-match': '*' });
const POLICY = '/api/workspaces/acme-prod/policy';

describe('a policy', () => {
  it.each([
    [
      'a provider in the chain',
      { routing: { chain: [{ provider: 'primary' }, { provider: 'gone' }] } },
      'routing.chain.1.provider',
    ],
    ['a model in the chain', { routing: { chain: [{ provider: 'primary', model: 'gone' }] } }, 'routing.chain.0.model'],
    [
      'a credential in the chain',
      { routing: { chain: [{ provider: 'primary', credential: 'gone' }] } },
      'routing.chain.0.credential',
    ],
    ['an alias', { routing: { aliases: { fast: 'gone' } } }, 'routing.aliases.fast'],
    ['an allowed provider', { dataRules: { allowedProviders: ['gone'] } }, 'dataRules.allowedProviders.0'],
    [
      'a downgrade',
      { routing: { budgetDowngrade: { atPercent: 90, model: 'gone' } } },
      'routing.budgetDowngrade.model',
    ],
    ['a default', { routing: { defaultModel: 'gone' } }, 'routing.defaultModel'],
  ])("that refers to nothing by %s is refused with the field's path", async (_what, override, path) => {
    const version = test.plane.store.version;
    const answer = await call('PUT', POLICY, override);
    expect([answer.status, pathsOf(answer)]).toEqual([400, [path]]);
    expect(test.plane.store.version).toBe(version);
  });

  it.each([
    [
      'a downgrade to a model that may not be used',
      { routing: { allowModels: ['sim-large'], budgetDowngrade: { atPercent: 90, model: 'sim-small' } } },
      'routing.budgetDowngrade.model',
    ],
    [
      'a default that no provider of the chain offers',
      { routing: { chain: [{ provider: 'primary', model: 'sim-large' }], defaultModel: 'sim-small' } },
      'routing.defaultModel',
    ],
    ['a learned choice among one model', { routing: { learned: true, allowModels: ['sim-small'] } }, 'routing.learned'],
    ['kept prompts', { promptLogDays: 7 }, 'promptLogDays'],
    ['a cache', { cache: { mode: 'exact' } }, 'cache.mode'],
    ['stale answers', { cache: { serveStaleOnOutage: true } }, 'cache.serveStaleOnOutage'],
  ])('that asks for what would silently not happen is refused: %s', async (_what, override, path) => {
    const answer = await call('PUT', POLICY, override);
    expect([answer.status, pathsOf(answer)]).toEqual([400, [path]]);
  });

  it('may name the learned policy by an alias, and a plan may not ask for what is not offered either', async () => {
    expect(
      (
        await call('PUT', POLICY, {
          routing: { learned: true, aliases: { smart: 'auto' } },
          cache: { mode: 'off' },
          promptLogDays: 0,
        })
      ).status,
    ).toBe(200);
    const rows = (await call('GET', '/api/plans')).body['rows'] as { id: string; value: { policy: object } }[];
    const plan = rows[0] as (typeof rows)[number];
    const refused = await write(`/api/plans/${plan.id}`, {
      ...plan.value,
      policy: { ...plan.value.policy, promptLogDays: 1 },
    });
    expect([refused.status, pathsOf(refused)]).toEqual([400, ['policy.promptLogDays']]);
  });

  it('that names the same place twice in a chain is refused', async () => {
    const answer = await call('PUT', POLICY, {
      routing: { chain: [{ provider: 'primary' }, { provider: 'primary' }] },
    });
    expect([answer.status, pathsOf(answer)]).toEqual([400, ['routing.chain.1']]);
  });

  it('that names the same place twice by naming the only credential of a provider is refused', async () => {
    const answer = await call('PUT', POLICY, {
      routing: {
        chain: [{ provider: 'primary' }, { provider: 'secondary' }, { provider: 'primary', credential: 'primary-1' }],
      },
    });
    expect([answer.status, pathsOf(answer)]).toEqual([400, ['routing.chain.2']]);
  });

  it.each([
    [
      'allows no provider of its chain',
      { routing: { chain: [{ provider: 'primary' }] }, dataRules: { allowedProviders: ['secondary'] } },
      'dataRules.allowedProviders',
    ],
    ['asks for a region where none of them is', { dataRules: { regions: ['mars'] } }, 'dataRules.regions'],
  ])('that %s, so that nothing could be served, is refused', async (_how, override, path) => {
    const answer = await call('PUT', POLICY, override);
    expect([answer.status, pathsOf(answer)]).toEqual([400, [path]]);
  });

  it('of a tier that no account of its chain takes calls of is refused, and so are reserved slots that cannot be', async () => {
    const rows = (await call('GET', '/api/providers')).body['rows'] as {
      id: string;
      value: { credentials: object[] };
    }[];
    const primary = rows.find((row) => row.id === 'primary')?.value;
    const withPool = (more: object) =>
      write('/api/providers/primary', { ...primary, credentials: [{ ...primary?.credentials[0], ...more }] });
    const chain = { routing: { chain: [{ provider: 'primary' }] } };
    expect((await withPool({ tiers: ['critical', 'high', 'standard'], slots: 9 })).status).toBe(200);
    expect(pathsOf(await call('PUT', POLICY, { ...chain, priority: 'low' }))).toEqual(['priority']);
    for (const [more, path] of [
      [{ slots: 9, reserved: { priority: 'high', slots: 10 } }, 'credentials.0.reserved.slots'],
      [{ tiers: ['low', 'standard'], reserved: { priority: 'high', slots: 1 } }, 'credentials.0.reserved.priority'],
      [{ tiers: ['low', 'low'] }, 'credentials.0.tiers'],
    ] as const) {
      const answer = await withPool(more);
      expect([answer.status, pathsOf(answer)]).toEqual([400, expect.arrayContaining([path])]);
    }
    expect((await write('/api/providers/primary', primary as object)).status).toBe(200);
  });

  it("whose chain names another tenant's credential is refused", async () => {
    const rows = (await call('GET', '/api/providers')).body['rows'] as {
      id: string;
      value: { credentials: object[] };
    }[];
    const primary = rows.find((row) => row.id === 'primary')?.value;
    const credentials = [...(primary?.credentials ?? []), { id: 'initech-own', slots: 1, tenants: ['initech'] }];
    expect((await write('/api/providers/primary', { ...primary, credentials })).status).toBe(200);
    const answer = await call('PUT', POLICY, {
      routing: { chain: [{ provider: 'primary', credential: 'initech-own' }] },
    });
    expect([answer.status, pathsOf(answer)]).toEqual([400, ['routing.chain.0.credential']]);
  });

  it('that does not fit together with its plan is refused, never clamped', async () => {
    const answer = await call('PUT', POLICY, { limits: { concurrency: { inFlight: 5, queued: 6 } } });
    expect([answer.status, pathsOf(answer)]).toEqual([400, ['limits.concurrency.queued']]);
  });

  const quota = (more: object) => ({
    limits: {
      quotas: [
        {
          id: 'q',
          meter: 'total_tokens',
          limit: 1,
          mode: 'hard',
          span: { kind: 'calendar', period: 'month' },
          ...more,
        },
      ],
    },
  });
  it.each([
    ['a negative rate', { limits: { requests: { perSecond: -1, burst: 1 } } }, 'limits.requests.perSecond'],
    ['a burst below 1', { limits: { requests: { perSecond: 5, burst: 0 } } }, 'limits.requests.burst'],
    ['no token a minute', { limits: { tokens: { perMinute: 0 } } }, 'limits.tokens.perMinute'],
    [
      'more queued than in flight',
      { limits: { concurrency: { inFlight: 2, queued: 3 } } },
      'limits.concurrency.queued',
    ],
    ['a hard quota without a window', quota({ span: undefined }), 'limits.quotas.0.span'],
    [
      'a time zone that does not exist',
      quota({ span: { kind: 'calendar', period: 'day', timeZone: 'Mars/Olympus' } }),
      'limits.quotas.0.span.timeZone',
    ],
    ['a soft quota that refuses', quota({ mode: 'soft', refuseAtPercent: 90 }), 'limits.quotas.0.refuseAtPercent'],
    ['a tier that does not exist', { priority: 'platinum' }, 'priority'],
    ['a field that nobody knows', { limits: { request: {} } }, 'limits'],
  ])('with %s is refused with the path, and reaches no gateway', async (_what, override, path) => {
    const version = test.plane.store.version;
    const answer = await call('PUT', POLICY, override);
    expect([answer.status, pathsOf(answer)]).toEqual([400, [path]]);
    expect(test.plane.store.version).toBe(version);
  });

  it('keeps what it does not name from its plan', async () => {
    const answer = await call('PUT', POLICY, { maxPoolSharePercent: 20 });
    expect(answer.status).toBe(200);
    expect(answer.body['override']).toEqual({ maxPoolSharePercent: 20 });
    expect(answer.body['effective']).toMatchObject({ maxPoolSharePercent: 20, priority: 'high' });
  });

  it('that was changed in the meantime answers 412 with both versions, and the ETag that is current', async () => {
    const first = await call('GET', POLICY);
    const won = await call('PUT', POLICY, { priority: 'low' }, { 'if-match': first.etag ?? '' });
    expect(won.status).toBe(200);
    const lost = await call('PUT', POLICY, { priority: 'critical' }, { 'if-match': first.etag ?? '' });
    expect(lost.status).toBe(412);
    expect(lost.etag).toBe(won.etag);
    expect(lost.body.detail).toContain(`version ${first.etag?.replaceAll('"', '')}`);
    expect(lost.body.detail).toContain(`version ${won.etag?.replaceAll('"', '')}`);
    expect((await call('GET', POLICY)).body['override']).toEqual({ priority: 'low' });
  });
});

describe('a row that others point at', () => {
  it("cannot be taken away under them: a tenant's plan, a model's provider", async () => {
    const tenant = await write('/api/tenants/acme', { id: 'acme', name: 'Acme', plan: 'gone', limits: {} });
    expect([tenant.status, pathsOf(tenant)]).toEqual([400, ['plan']]);
    const rows = (await call('GET', '/api/providers')).body['rows'] as {
      id: string;
      value: { credentials: unknown[] };
    }[];
    const primary = rows.find((row) => row.id === 'primary')?.value;
    const renamed = await write('/api/providers/primary', { ...primary, id: 'other' });
    expect([renamed.status, pathsOf(renamed)]).toEqual([400, ['id']]);
  });

  it('names the row elsewhere that a change would break', async () => {
    await write(POLICY, { routing: { chain: [{ provider: 'primary', credential: 'primary-1' }] } });
    const rows = (await call('GET', '/api/providers')).body['rows'] as {
      id: string;
      value: { credentials: { id: string }[] };
    }[];
    const primary = rows.find((row) => row.id === 'primary')?.value;
    const answer = await write('/api/providers/primary', { ...primary, credentials: [{ id: 'primary-2', slots: 1 }] });
    expect([answer.status, pathsOf(answer)]).toEqual([
      400,
      ['workspaces.acme-prod.override.routing.chain.0.credential'],
    ]);
  });

  it('a health probe of a model that the provider does not offer, or that takes longer than its interval, is refused', async () => {
    const rows = (await call('GET', '/api/providers')).body['rows'] as { id: string; value: object }[];
    const primary = rows.find((row) => row.id === 'primary')?.value;
    const put = (healthProbe: object) => write('/api/providers/primary', { ...primary, healthProbe });
    const gone = await put({ model: 'gone' });
    expect([gone.status, pathsOf(gone)]).toEqual([400, ['healthProbe.model']]);
    const slow = await put({ model: 'sim-small', intervalMs: 1_000, timeoutMs: 2_000 });
    expect([slow.status, pathsOf(slow)]).toEqual([400, ['healthProbe.timeoutMs']]);
    expect((await put({ model: 'sim-small' })).status).toBe(200);
  });

  it('a model whose successors lead back to it is refused', async () => {
    const rows = (await call('GET', '/api/models')).body['rows'] as { id: string; value: object }[];
    const put = (id: string, successor: string) =>
      write(`/api/models/${id}`, {
        ...rows.find((row) => row.id === id)?.value,
        retirement: { at: '2030-01-01T00:00:00.000Z', successor },
      });
    expect((await put('sim-large', 'sim-small')).status).toBe(200);
    const answer = await put('sim-small', 'sim-large');
    expect([answer.status, pathsOf(answer)]).toEqual([
      400,
      ['models.sim-large.retirement.successor', 'retirement.successor'],
    ]);
  });

  it('prices of a version never change', async () => {
    const rows = (await call('GET', '/api/plans')).body['rows'] as {
      id: string;
      value: { priceBook: { version: number; prices: object } };
    }[];
    const plan = rows.find((row) => row.id === 'free')?.value;
    const prices = { 'sim-large': { inputPicoUsd: 1, outputPicoUsd: 1 } };
    const same = await write('/api/plans/free', { ...plan, priceBook: { ...plan?.priceBook, prices } });
    expect([same.status, pathsOf(same)]).toEqual([400, ['priceBook.version']]);
    const next = await write('/api/plans/free', { ...plan, priceBook: { ...plan?.priceBook, prices, version: 2 } });
    expect(next.status).toBe(200);
  });
});

describe('an API key', () => {
  it('is shown once, stored as a digest, and never listed with it', async () => {
    const made = await call('POST', '/api/workspaces/acme-prod/keys', { name: 'ci' });
    expect(made.status).toBe(201);
    expect(made.body['key']).toMatch(/^sk-sluice-[A-Za-z0-9]{12}-[A-Za-z0-9]{40}$/);
    const listed = await call('GET', '/api/workspaces/acme-prod/keys');
    expect(JSON.stringify(listed.body)).toContain(String(made.body['keyId']));
    const secret = String(made.body['key']).split('-')[3] ?? '';
    const everything = JSON.stringify([listed.body, test.plane.store.snapshot(), test.repository.audited]);
    expect(everything).not.toContain(secret);
    expect(JSON.stringify([listed.body, test.repository.audited])).not.toContain('digest');
  });

  it('that would have expired before it was made is refused', async () => {
    const made = await call('POST', '/api/workspaces/acme-prod/keys', {
      name: 'old',
      expiresAt: '2020-01-01T00:00:00.000Z',
    });
    expect([made.status, pathsOf(made)]).toEqual([400, ['expiresAt']]);
  });

  it('of a workspace that does not exist cannot be made, and one that does not exist cannot be revoked', async () => {
    expect((await call('POST', '/api/workspaces/nowhere/keys', { name: 'x' })).status).toBe(404);
    expect((await call('DELETE', '/api/keys/nothing00001')).status).toBe(404);
  });
});

describe('rotating a key', () => {
  it('gives a new key like the old one, which works on for the grace time and no longer', async () => {
    const made = await call('POST', '/api/workspaces/acme-prod/keys', {
      name: 'ci',
      allowModels: ['sim-small'],
      tags: { team: 'a' },
    });
    const oldId = String(made.body['keyId']);
    const rotated = await call('POST', `/api/keys/${oldId}/rotate`, { graceSeconds: 3600 });
    expect(rotated.status).toBe(201);
    const { keys } = test.plane.store.snapshot();
    const next = keys[String(rotated.body['keyId'])];
    expect(next).toMatchObject({ name: 'ci', workspace: 'acme-prod', allowModels: ['sim-small'], tags: { team: 'a' } });
    expect(next?.expiresAt).toBeUndefined();
    expect(next?.digest).not.toBe(keys[oldId]?.digest);
    const graceMs = Date.parse(String(keys[oldId]?.expiresAt)) - Date.parse(String(next?.createdAt));
    expect(graceMs).toBe(3_600_000);
  });

  it('never lengthens the life of a key that expires sooner', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const made = await call('POST', '/api/workspaces/acme-prod/keys', { name: 'old', expiresAt });
    await call('POST', `/api/keys/${String(made.body['keyId'])}/rotate`, {});
    expect(test.plane.store.snapshot().keys[String(made.body['keyId'])]?.expiresAt).toBe(expiresAt);
  });

  it('is refused for a key that does not exist and for an address that is none', async () => {
    expect((await call('POST', '/api/keys/nothing00001/rotate', {})).status).toBe(404);
    const bad = await call('POST', '/api/workspaces/acme-prod/keys', { name: 'x', allowAddresses: ['10.0.0.0/99'] });
    expect([bad.status, pathsOf(bad)]).toEqual([400, ['allowAddresses.0']]);
  });
});

describe('the audit trail', () => {
  it('holds who changed what, before and after, for every change', async () => {
    await call('PUT', POLICY, { priority: 'low' });
    await call('DELETE', '/api/keys/acmeKey00001');
    await call('PUT', '/api/kill-switches/stop', {
      id: 'stop',
      scope: 'provider',
      target: 'primary',
      message: 'Maintenance.',
    });
    await call('POST', '/api/dlqs/audit/redrive');
    await call('POST', '/api/chaos/flood', { tenant: 'initech', rps: 10, seconds: 1 });
    const [, policy, key, kill] = test.repository.audited;
    expect(policy).toMatchObject({
      type: 'policy.changed',
      actor: { kind: 'operator', id: 'ops' },
      tenant_id: 'acme',
      workspace: 'acme-prod',
      before: {},
      after: { priority: 'low' },
    });
    expect(key).toMatchObject({ type: 'key.revoked', tenant_id: 'acme', before: { keyId: 'acmeKey00001' } });
    expect(kill).toMatchObject({ type: 'kill_switch.set', target: { id: 'stop' } });
    expect(test.audited.map((input) => input.type)).toEqual(
      expect.arrayContaining(['session.started', 'dlq.redriven', 'chaos.flood']),
    );
  });

  it('a change that cannot be stored is not in force', async () => {
    test.repository.failWith(new Error('database down'));
    const answer = await call('PUT', POLICY, { priority: 'low' });
    expect(answer.status).toBe(503);
    expect(test.plane.store.snapshot().workspaces['acme-prod']?.override).toEqual({});
    test.repository.failWith(undefined);
    expect((await call('PUT', POLICY, { priority: 'low' })).status).toBe(200);
  });
});
