import { createAttemptUnderTest, OK, type Reply } from '../../testing/attempt-under-test.ts';
import type { RawSnapshot } from '../../testing/sample-snapshot.ts';

type Json = Record<string, unknown>;
const policyOf = (raw: RawSnapshot) => (raw.plans.team as { policy: Json & { routing: Json } }).policy;
const retries =
  (more: Json = {}) =>
  (raw: RawSnapshot) =>
    void (policyOf(raw).retries = { maxAttempts: 3, baseDelayMs: 200, maxDelayMs: 5_000, ...more });
const limited = (headers: Record<string, string>): Reply => ({ status: 429, headers });

describe('a retry', () => {
  it('waits by full jitter, doubling, and there are three attempts at most', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 500 }] }, retries());
    const { code, call } = await under.run();
    expect(code).toBe('upstream_unavailable');
    // Random is 0.5: half of 200, then half of 400.
    expect(under.sent.map(({ atMs }) => atMs)).toEqual([0, 100, 300]);
    expect(call.attempts.map(({ outcome }) => outcome)).toEqual(['http_error', 'http_error', 'http_error']);
    expect(under.clock.pendingTimers()).toBe(0);
  });

  it.each([
    ['seconds', { 'retry-after': '2' }, 2_000],
    ['a fraction of seconds', { 'retry-after': '0.25' }, 250],
    ['milliseconds, which go before seconds', { 'retry-after-ms': '700', 'retry-after': '60' }, 700],
    ['an HTTP date', { 'retry-after': new Date(1_700_000_003_000).toUTCString() }, 3_000],
    ['a date in the past', { 'retry-after': new Date(1_600_000_000_000).toUTCString() }, 100],
    ['nothing, and then a second', {}, 1_000],
    ['nonsense, and then a second', { 'retry-after': 'soon' }, 1_000],
  ])('after a rate limit waits as it was told by %s', async (_how, headers, waitMs) => {
    const under = createAttemptUnderTest({ primary: [limited(headers), OK] }, retries());
    expect((await under.run()).code).toBe('ok');
    expect(under.sent[1]?.atMs).toBe(waitMs);
  });

  it.each([
    ['the provider asks for longer than the policy waits', limited({ 'retry-after': '6' }), {}],
    ['it could not end before the total deadline', limited({ 'retry-after': '4' }), { totalMs: 4_000 }],
  ])('is not begun when %s, and the caller hears the time', async (_why, reply, deadlines) => {
    const under = createAttemptUnderTest({ primary: [reply, OK] }, (raw) => {
      retries()(raw);
      policyOf(raw).deadlines = deadlines;
    });
    const { code, tookMs } = await under.run();
    expect([code, tookMs, under.sent.length]).toEqual(['upstream_rate_limited', 0, 1]);
    expect(under.budget('primary').report().retries).toBe(0);
  });

  it("is not begun when it could not end before the caller's own deadline", async () => {
    const reply = limited({ 'retry-after-ms': '900' });
    const hurried = createAttemptUnderTest({ primary: [reply, OK] }, retries());
    expect((await hurried.run({ headers: { 'x-sluice-timeout-ms': '900' } })).code).toBe('upstream_rate_limited');
    const patient = createAttemptUnderTest({ primary: [reply, OK] }, retries());
    expect((await patient.run({ headers: { 'x-sluice-timeout-ms': '901' } })).code).toBe('ok');
  });

  it.each([
    ['a refusal of the request', { status: 400 }, 'bad_request'],
    ['a model that is not there', { status: 404 }, 'bad_request'],
    ['a refused account', { status: 401 }, 'upstream_account'],
    ['silence, which would double the time that the caller waits', 'silence', 'upstream_timeout'],
  ] as [string, Reply, string][])('is not made for %s', async (_what, reply, expected) => {
    const under = createAttemptUnderTest({ primary: [reply, OK] }, retries());
    expect((await under.run()).code).toBe(expected);
    expect(under.sent).toHaveLength(1);
  });

  it.each([
    ['a connection error', 'reset'],
    ['503', { status: 503 }],
    ['529', { status: 529 }],
    ['408', { status: 408 }],
    ['409', { status: 409 }],
    ['425', { status: 425 }],
    ['an unreadable answer', { status: 200, body: '<html>' }],
  ] as [string, Reply][])('is made for %s', async (_what, reply) => {
    const under = createAttemptUnderTest({ primary: [reply, OK] }, retries());
    expect((await under.run()).code).toBe('ok');
    expect(under.sent).toHaveLength(2);
  });

  it('comes out of a budget of a tenth of the requests at that provider, with a small floor', async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 500 }] }, (raw) => {
      retries()(raw);
      Object.assign(raw.providers.primary as object, { breaker: { failurePercent: 100, minimumCalls: 10_000 } });
    });
    for (let i = 0; i < 100; i += 1) under.budget('primary').recordRequest('acme');
    for (let i = 0; i < 20; i += 1) await under.run();
    // 20 first calls, and a tenth of the 120 requests of the last ten seconds as retries.
    expect(under.sent).toHaveLength(20 + 12);
    const quiet = createAttemptUnderTest({ primary: [{ status: 500 }] }, retries());
    await quiet.run();
    await quiet.run();
    expect(quiet.sent).toHaveLength(2 + 2);
  });

  it("comes out of the tenant's own tenth, so that its failing calls leave the retries of the others alone", async () => {
    const under = createAttemptUnderTest({ primary: [{ status: 500 }] }, (raw) => {
      retries()(raw);
      Object.assign(raw.providers.primary as object, { breaker: { failurePercent: 100, minimumCalls: 10_000 } });
    });
    const budget = under.budget('primary');
    for (let i = 0; i < 30; i += 1) budget.recordRequest('acme');
    for (let i = 0; i < 200; i += 1) budget.recordRequest('globex');
    for (let i = 0; i < 20; i += 1) await under.run();
    expect(under.sent).toHaveLength(20 + 5);
    expect(Array.from({ length: 20 }, () => budget.tryRetry('globex'))).not.toContain(false);
  });

  it('is not made to another place when the trigger of the policy leaves that fault out', async () => {
    const under = createAttemptUnderTest({ primary: [limited({ 'retry-after': '60' })], secondary: [OK] }, (raw) => {
      retries()(raw);
      policyOf(raw).routing.triggerOn = ['error'];
    });
    expect((await under.run()).code).toBe('upstream_rate_limited');
    expect(under.sent.map(({ provider }) => provider)).toEqual(['primary']);
  });
});

describe('the connect deadline of the policy', () => {
  it('is what the transport is given, and a shorter one than five seconds does not count against the provider', async () => {
    for (const [connectMs, calls] of [
      [700, 0],
      [5_000, 1],
    ] as const) {
      const under = createAttemptUnderTest({ primary: ['no_connection'] }, (raw) => {
        retries({ maxAttempts: 1 })(raw);
        policyOf(raw).deadlines = { connectMs };
      });
      const { code, tookMs } = await under.run();
      expect([code, tookMs]).toEqual(['upstream_unavailable', connectMs]);
      expect(under.breakers.report()[0]?.calls).toBe(calls);
    }
  });
});

describe('silence', () => {
  const impatient = (deadlines: Json, silenceFailsAfterMs?: number) => (raw: RawSnapshot) => {
    policyOf(raw).deadlines = deadlines;
    if (silenceFailsAfterMs !== undefined)
      Object.assign(raw.providers.primary as object, { breaker: { silenceFailsAfterMs } });
  };
  it.each([
    ["never by a workspace's own shorter first-byte deadline", impatient({ firstByteMs: 1_000 }), 0],
    ['by a first-byte deadline as long as the provider is given', impatient({ firstByteMs: 60_000 }), 1],
    ['by a shorter one where the provider is given no more', impatient({ firstByteMs: 1_000 }, 1_000), 1],
    ["never by a workspace's own shorter total deadline", impatient({ totalMs: 2_000 }), 0],
    [
      'by a total deadline after more than the provider is given',
      impatient({ firstByteMs: 300_000, totalMs: 61_000 }),
      1,
    ],
  ])('feeds the shared breaker %s', async (_when, change, calls) => {
    const under = createAttemptUnderTest({ primary: ['silence'] }, change);
    expect((await under.run()).code).toBe('upstream_timeout');
    expect(under.breakers.report()).toMatchObject([{ calls, failure_percent: calls * 100 }]);
  });
});
