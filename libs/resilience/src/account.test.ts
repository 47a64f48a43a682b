import { createFakeClock } from '@sluice/testing';
import fc from 'fast-check';
import type { Account, AccountUse, LimitReach } from './account.ts';
import { createAccount } from './create-account.ts';

const START = 1_000_000;

function setUp(more: { readonly maxTenants?: number } = {}) {
  const clock = createFakeClock(START);
  const account = createAccount({ clock, probeTimeoutMs: 10_000, ...more });
  return {
    clock,
    account,
    use: (tenant: string, model = 'm') => account.tryUse(tenant, model) as AccountUse,
    may: (tenant: string, model = 'm') => account.restMs(tenant, model) === 0,
    limited(tenant: string, retryAfterMs?: number, reach: LimitReach = 'caller', model = 'm') {
      return account.rateLimited(account.tryUse(tenant, model) ?? lateUse(tenant, model), { retryAfterMs, reach });
    },
    refused(tenant: string, status: number, model = 'm') {
      return account.refused(account.tryUse(tenant, model) ?? lateUse(tenant, model), status);
    },
    served: (tenant: string, model = 'm') => serve(account, tenant, model),
  };
}

/** A call that was sent before anything was known. */
const lateUse = (tenantId: string, model: string): AccountUse => ({ tenantId, model, probe: false, born: 0 });

function serve(account: Account, tenant: string, model: string): boolean {
  const use = account.tryUse(tenant, model);
  if (use !== undefined) account.served(use);
  return use !== undefined;
}

describe('a 429', () => {
  it('rests the tenant that met it on that model, as long as was asked, at most a minute, and a second without a word', () => {
    for (const [asked, rest] of [
      [undefined, 1_000],
      [2_500, 2_500],
      [900_000, 60_000],
    ] as const) {
      const { clock, account, may, limited } = setUp();
      expect(limited('a', asked)).toEqual({ forAll: false, othersServed: false, ended: undefined });
      expect([may('a'), may('a', 'other'), may('b'), account.state.kind]).toEqual([false, true, true, 'ok']);
      expect(account.rests(9)).toEqual([{ kind: 'limited', model: 'm', tenantId: 'a', untilMs: START + rest }]);
      clock.advance(rest - 1);
      expect([account.tryUse('a', 'm'), account.restMs('a', 'm')]).toEqual([undefined, 1]);
      clock.advance(1);
      expect(account.tryUse('a', 'm')).toMatchObject({ probe: false });
      expect(account.rests(9)).toEqual([]);
    }
  });

  it('is not cut short by a later, shorter wish', () => {
    const { account, limited } = setUp();
    limited('a', 20_000);
    limited('a', 1_000);
    expect(account.restMs('a', 'm')).toBe(20_000);
  });

  it('rests the model for those without a success of their own once a second tenant meets it, and no other model', () => {
    const { account, may, use, limited } = setUp();
    limited('a', 30_000);
    expect(limited('b', 30_000).forAll).toBe(true);
    expect(account.rests(9)[0]).toEqual({ kind: 'limited', model: 'm', untilMs: START + 30_000 });
    const probe = use('fresh');
    expect(probe.probe).toBe(true);
    expect([may('other'), may('other', 'n'), account.tryUse('other', 'm')]).toEqual([false, true, undefined]);
    account.rateLimited(probe, { retryAfterMs: 30_000, reach: 'caller' });
    expect([may('fresh'), may('other')]).toEqual([false, false]);
  });

  it('stays one tenant’s when somebody else was served in between, or when the second comes much later', () => {
    const { clock, may, served, limited } = setUp();
    limited('a', 30_000);
    served('c');
    expect(limited('b', 30_000).forAll).toBe(false);
    clock.advance(30_001);
    expect(limited('d', 30_000).forAll).toBe(false);
    expect(may('fresh')).toBe(true);
  });

  it('never holds back a tenant whose own calls succeed, and its next success wakes the others', () => {
    const { clock, account, may, served, limited } = setUp();
    served('healthy');
    clock.advance(1_000);
    limited('a', 30_000);
    limited('b', 30_000);
    expect(served('healthy')).toBe(true);
    expect([may('fresh'), may('a'), may('b')]).toEqual([true, false, false]);
    expect(account.rests(9).map(({ tenantId }) => tenantId)).toEqual(['a', 'b']);
  });

  it('leaves a tenant whose own calls succeed all of its calls, not only one at a time', () => {
    const { account, limited, served } = setUp();
    served('c');
    limited('a', 30_000);
    limited('b', 30_000);
    expect([account.tryUse('c', 'm')?.probe, account.tryUse('c', 'm')?.probe]).toEqual([false, false]);
  });

  it('of several tenants is their own while another is served call after call, until that one is limited, too', () => {
    const { clock, limited, served } = setUp();
    const serveRow = (calls: number): void => {
      for (let i = 0; i < calls; i++) {
        served('c');
        clock.advance(100);
      }
    };
    serveRow(9);
    limited('a', 500);
    expect(limited('b', 500).othersServed).toBe(false);
    serveRow(1);
    expect(limited('a', 500).othersServed).toBe(true);
    expect(limited('b', 500)).toMatchObject({ forAll: true, othersServed: true });
    limited('c', 500);
    expect(limited('b', 500).othersServed).toBe(false);
    serveRow(10);
    clock.advance(10_001);
    expect(limited('b', 500).othersServed).toBe(false);
  });

  it('is not lifted by a success of a call that was sent before it', () => {
    const { account, may, use, limited } = setUp();
    const early = use('early');
    limited('a', 30_000);
    limited('b', 30_000);
    account.served(early);
    expect([may('fresh'), may('early')]).toEqual([true, true]); // one may probe
    expect([account.tryUse('fresh', 'm')?.probe, account.tryUse('more', 'm')]).toEqual([true, undefined]);
  });

  it('rests the model for everybody where the provider says that nothing remains, whoever was served', () => {
    const { clock, may, served, limited } = setUp();
    served('healthy');
    expect(limited('a', 5_000, 'model').forAll).toBe(true);
    expect([may('healthy'), may('fresh'), may('healthy', 'n')]).toEqual([false, false, true]);
    clock.advance(5_000);
    expect(may('healthy')).toBe(true);
  });

  it('rests the whole account only where the provider names the account', () => {
    const { clock, account, may, limited } = setUp();
    limited('a', 5_000, 'account');
    expect(account.state).toEqual({ kind: 'cooling', untilMs: START + 5_000 });
    expect([may('b'), may('b', 'n')]).toEqual([false, false]);
    clock.advance(5_000);
    expect([may('b'), account.state.kind]).toEqual([true, 'ok']);
  });

  it('costs each tenant one refused attempt in the time it asks for, however many tenants there are', () => {
    const { clock, account } = setUp();
    const refusals = new Map<string, number>();
    const tenants = Array.from({ length: 20 }, (_, i) => `t${i}`);
    for (let tick = 0; tick < 290; tick += 1) {
      for (const tenant of tenants) {
        const use = account.tryUse(tenant, 'm');
        if (use === undefined) continue;
        refusals.set(tenant, (refusals.get(tenant) ?? 0) + 1);
        account.rateLimited(use, { retryAfterMs: 30_000, reach: 'caller' });
      }
      clock.advance(100);
    }
    expect(Math.max(...refusals.values())).toBe(1);
    // Who comes without a success of its own is not sent to find out what others did: few probe, ever more seldom.
    expect(refusals.size).toBeLessThanOrEqual(7);
  });
});

describe('an account that the provider refuses', () => {
  it.each([401, 402, 429])('with %s is everybody’s at once, told once, and back with one accepted probe', (status) => {
    const { clock, account, served, refused, use } = setUp();
    served('healthy');
    const early = use('early');
    expect([refused('a', status), refused('b', status), refused('a', status)]).toEqual([{}, undefined, undefined]);
    expect(account.state).toEqual({ kind: 'refused', status, sinceMs: START, retryAtMs: START + 30_000 });
    expect([account.tryUse('healthy', 'm'), account.isRefused('healthy', 'n')]).toEqual([undefined, true]);
    expect(account.served(early)).toBeUndefined();
    expect(account.state.kind).toBe('refused');
    clock.advance(30_000);
    const probe = use('healthy');
    expect([probe.probe, account.tryUse('a', 'm'), account.tryUse('healthy', 'm')]).toEqual([
      true,
      undefined,
      undefined,
    ]);
    expect([account.served(probe), account.state.kind]).toEqual([{}, 'ok']);
    expect(refused('a', 401)).toEqual({});
  });

  it('for want of its secret is everybody’s, too', () => {
    const { account, use } = setUp();
    expect(account.secretMissing(use('a'))).toEqual({});
    expect(account.state).toMatchObject({ kind: 'refused', status: undefined });
    expect(account.tryUse('b', 'n')).toBeUndefined();
  });

  it('rests again after a refused probe, in the same episode', () => {
    const { clock, account, refused } = setUp();
    refused('a', 402);
    clock.advance(30_000);
    expect(refused('a', 402)).toBeUndefined();
    expect(account.restMs('a', 'm')).toBe(30_000);
  });

  it('gives the turn to another that has asked, also where the tenant whose probe failed asks first', () => {
    const { clock, account, use } = setUp();
    account.refused(use('noisy'), 402);
    clock.advance(30_000);
    account.refused(use('noisy'), 402);
    expect(account.tryUse('healthy', 'm')).toBeUndefined();
    clock.advance(30_000);
    expect(account.tryUse('noisy', 'm')).toBeUndefined();
    expect(use('healthy').probe).toBe(true);
  });

  it('lets a tenant whose probes fail delay nobody: the next turn is another’s', () => {
    const { clock, account, use, refused } = setUp();
    refused('a', 401);
    clock.advance(30_000);
    expect(account.tryUse('healthy', 'n')?.probe).toBe(true);
    account.inconclusive({ tenantId: 'healthy', model: 'n', probe: true, born: 9 });
    const taken: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      // The noisy ones always ask first.
      for (const tenant of ['noisy', 'noisier', 'healthy']) {
        const probe = account.tryUse(tenant, 'm');
        if (probe === undefined) continue;
        taken.push(tenant);
        if (tenant !== 'healthy') account.inconclusive(probe);
        else account.refused(use(tenant) ?? probe, 401);
      }
      clock.advance(10_000);
    }
    expect(new Set(taken)).toEqual(new Set(['noisy', 'noisier', 'healthy']));
    expect(taken.filter((tenant) => tenant === 'healthy').length).toBeGreaterThanOrEqual(2);
  });

  it('gives the place of a probe without an answer to another tenant after five seconds, at once when it is told so', () => {
    const { clock, account, use, refused } = setUp();
    refused('a', 401);
    clock.advance(30_000);
    account.inconclusive(use('a'));
    expect(use('b').probe).toBe(true);
    clock.advance(4_999);
    expect([account.tryUse('c', 'm'), account.tryUse('b', 'm')]).toEqual([undefined, undefined]);
    clock.advance(1);
    expect(account.tryUse('b', 'm')).toBeUndefined();
    expect(account.tryUse('c', 'm')?.probe).toBe(true);
  });

  it('stays refused when a call from before is only rate limited, and is well when a probe is', () => {
    const { clock, account, use, refused } = setUp();
    refused('a', 401);
    account.rateLimited(lateUse('b', 'm'), { retryAfterMs: undefined, reach: 'caller' });
    expect(account.state.kind).toBe('refused');
    clock.advance(30_000);
    expect(account.rateLimited(use('b'), { retryAfterMs: 1_000, reach: 'caller' }).ended).toEqual({});
    expect(account.state.kind).toBe('ok');
  });
});

describe('a 403', () => {
  it('is the tenant’s on that model: told when it lasts, tried again by the tenant alone, over when it is served', () => {
    const { clock, account, use, may, refused } = setUp();
    expect(refused('a', 403)).toBeUndefined();
    expect([may('a'), may('a', 'n'), may('b'), account.state.kind]).toEqual([false, true, true, 'ok']);
    expect(account.rests(9)).toMatchObject([{ kind: 'refused', status: 403, model: 'm', tenantId: 'a' }]);
    clock.advance(30_000);
    expect(refused('a', 403)).toEqual({ model: 'm', tenantId: 'a' });
    clock.advance(30_000);
    const probe = use('a');
    expect([probe.probe, account.tryUse('a', 'm')]).toEqual([true, undefined]);
    expect(account.served(probe)).toEqual({ model: 'm', tenantId: 'a' });
    expect([may('a'), account.rests(9)]).toEqual([true, []]);
  });

  it('is the account’s on that model when a second tenant meets it, and over for all with one success of another', () => {
    const { clock, account, use, may, refused } = setUp();
    refused('a', 403);
    expect(refused('b', 403)).toEqual({ model: 'm' });
    expect(account.rests(9)[0]).toMatchObject({ kind: 'refused', model: 'm', status: 403 });
    expect([may('c', 'n'), account.state.kind]).toEqual([true, 'ok']);
    const probe = use('c');
    expect([probe.probe, account.tryUse('d', 'm')]).toEqual([true, undefined]);
    expect(account.served(probe)).toEqual({ model: 'm' });
    expect([may('d'), may('a')]).toEqual([true, false]);
    clock.advance(1);
  });

  it('of the second tenant counts alone when somebody else was served in between', () => {
    const { may, served, refused } = setUp();
    refused('a', 403);
    served('c');
    expect(refused('b', 403)).toBeUndefined();
    expect(may('d')).toBe(true);
  });

  it('is the account’s when two tenants meet it on two models, and never by one tenant alone', () => {
    const alone = setUp();
    for (const model of ['m', 'n', 'o']) alone.refused('a', 403, model);
    expect([alone.account.state.kind, alone.may('b')]).toEqual(['ok', true]);
    const { account, use, refused } = setUp();
    refused('a', 403, 'm');
    expect(refused('b', 403, 'n')).toEqual({});
    expect(account.state).toMatchObject({ kind: 'refused', status: 403 });
    expect([use('c', 'o').probe, account.tryUse('d', 'o')]).toEqual([true, undefined]);
  });

  it('of others never holds back a tenant that is served', () => {
    const { clock, account, served, refused } = setUp();
    let refusedCalls = 0;
    for (let second = 0; second < 120; second += 1) {
      for (const [tenant, model] of [
        ['a', 'm'],
        ['b', 'm'],
        ['a', 'n'],
        ['b', 'n'],
      ] as const)
        if (account.tryUse(tenant, model) !== undefined) refused(tenant, 403, model);
      if (second % 20 === 0 && !served('healthy')) refusedCalls += 1;
      clock.advance(1_000);
    }
    expect(refusedCalls).toBe(0);
  });

  it('that nobody tries any more is forgotten', () => {
    const { clock, account, may, refused } = setUp();
    refused('a', 403);
    refused('b', 403);
    clock.advance(700_000);
    expect([account.rests(9), may('a'), may('c')]).toEqual([[], true, true]);
  });
});

it('keeps no more tenants than it is told, and forgets nobody who is active', () => {
  const { account, served, may, limited } = setUp({ maxTenants: 10 });
  limited('kept', 60_000);
  for (let i = 0; i < 1_000; i += 1) {
    served(`t${i}`);
    if (i % 5 === 0) expect(may('kept')).toBe(false);
  }
  expect(account.rests(99)).toHaveLength(1);
});

it('never lets two probes of one episode go at once, and tells one episode once, whatever happens', () => {
  const step = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    what: fc.constantFrom('use', 'refused', 'served', 'limited', 'inconclusive'),
    waitMs: fc.integer({ min: 0, max: 8_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const { clock, account } = setUp();
      let out: { use: AccountUse; atMs: number } | undefined;
      let told = 0;
      let ended = 0;
      let episodes = 0;
      for (const { tenant, what, waitMs } of steps) {
        clock.advance(waitMs);
        const wasRefused = account.state.kind === 'refused';
        if (what === 'use' && wasRefused) {
          const use = account.tryUse(tenant, 'm');
          if (use === undefined) continue;
          expect(use.probe).toBe(true);
          if (out !== undefined) expect(clock.monotonic() - out.atMs).toBeGreaterThanOrEqual(5_000);
          out = { use, atMs: clock.monotonic() };
        } else if (what === 'refused') {
          if (account.refused(out?.use ?? lateUse(tenant, 'm'), 401) !== undefined) told += 1;
          if (!wasRefused) episodes += 1;
          out = undefined;
        } else if (out !== undefined && what !== 'use') {
          if (what === 'inconclusive') account.inconclusive(out.use);
          else if (what === 'served') ended += account.served(out.use) === undefined ? 0 : 1;
          else
            ended += account.rateLimited(out.use, { retryAfterMs: 500, reach: 'caller' }).ended === undefined ? 0 : 1;
          out = undefined;
        }
      }
      expect(told).toBe(episodes);
      expect(ended).toBe(account.state.kind === 'refused' ? episodes - 1 : episodes);
    }),
  );
});
