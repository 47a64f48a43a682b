import { createFakeClock } from '@sluice/testing';
import { createBreaker, OWN_PARTY, type Breaker, type BreakerPass } from './breaker.ts';
import {
  BREAKER_OPTIONS,
  simulateBreaker,
  type Scenario,
  type Simulated,
  type SimulatedTenant,
} from './simulate-breaker.ts';

const simulate = (scenario: Scenario): Simulated => simulateBreaker(createFakeClock(1_000_000), scenario);
const many = (name: string, count: number, perSecond: number): SimulatedTenant[] =>
  Array.from({ length: count }, (_, n) => ({ id: `${name}-${n}`, perSecond }));
const attackers = (count: number): SimulatedTenant[] => many('attacker', count, 4);
const healthy = (perSecond: number, fromMs = 0): SimulatedTenant => ({ id: 'healthy', perSecond, fromMs });
const onlyAttackers = (id: string): boolean => id.startsWith('attacker');
const downFrom =
  (fromMs: number, untilMs = Infinity) =>
  (_id: string, atMs: number) =>
    atMs >= fromMs && atMs < untilMs;
const states = ({ changes }: Simulated): string[] => changes.map(({ to }) => to);

describe('a breaker that is judged by several tenants', () => {
  it('lets each of two tenants probe after its own cooldown, while the probes of a third hang', () => {
    const clock = createFakeClock(1_000_000);
    const breaker = createBreaker({ clock, options: BREAKER_OPTIONS });
    const parties = ['hanging', 'second', 'third'];
    for (const party of parties) for (let n = 0; n < BREAKER_OPTIONS.minimumCalls; n++) breaker.tryEnter(party)?.fail();
    expect(parties.map((party) => breaker.tryEnter(party))).toEqual([undefined, undefined, undefined]);
    clock.advance(BREAKER_OPTIONS.cooldownMs);
    for (let n = 0; n < BREAKER_OPTIONS.probes; n++) expect(breaker.tryEnter('hanging')?.probe).toBe(true);
    expect(breaker.tryEnter('hanging')).toBeUndefined();
    expect(['second', 'third'].map((party) => breaker.tryEnter(party)?.probe)).toEqual([true, true]);
  });

  it.each([1, 2, 10, 50])('serves each call of a healthy tenant beside %i whose calls all fail', (count) => {
    const run = simulate({ tenants: [healthy(8), ...attackers(count)], seconds: 60, fails: onlyAttackers });
    expect(run.of('healthy')).toMatchObject({ elsewhere: 0, failed: 0 });
    expect(run.of('healthy').calls).toBeGreaterThan(400);
    const attacker = run.of('attacker-0');
    expect(attacker.failed).toBeLessThan(attacker.calls / 8);
    expect(run.breaker.waitMs('attacker-0')).toBeGreaterThan(0);
    expect(run.breaker.waitMs('healthy')).toBe(0);
  });

  it.each([
    ['two', 2, 300],
    ['ten', 10, 300],
    ['ten, with streams of 20 s', 10, 20_000],
  ])('serves a healthy tenant that begins later, without history, beside %s that fail', (_what, count, answerMs) => {
    const run = simulate({
      tenants: [healthy(8, 20_000), ...attackers(count)],
      seconds: 80,
      fails: onlyAttackers,
      answerMs,
      contentMs: 200,
    });
    const { calls, elsewhere, failed } = run.of('healthy');
    expect(failed).toBe(0);
    expect(elsewhere / calls).toBeLessThan(0.01);
  });

  it.each([
    ['in 10 s', 0.1, 300],
    ['in 40 s, each of which comes without history', 0.025, 1_200],
  ])('serves each call of a healthy tenant that sends one %s beside ten that fail', (_what, perSecond, seconds) => {
    const run = simulate({ tenants: [healthy(perSecond), ...attackers(10)], seconds, fails: onlyAttackers });
    expect(run.of('healthy').calls).toBeGreaterThan(20);
    expect(run.of('healthy')).toMatchObject({ elsewhere: 0, failed: 0 });
  });

  it('serves each call of a tenant with 5 % failures of its own beside two whose calls all fail', () => {
    const run = simulate({
      tenants: [healthy(8), ...attackers(2)],
      seconds: 300,
      fails: (id, _atMs, n) => (id === 'healthy' ? n % 20 === 19 : true),
    });
    expect(run.of('healthy').failed).toBeGreaterThan(100);
    expect(run.of('healthy').elsewhere).toBe(0);
  });

  it('serves a thousand healthy tenants without history, beside ten that fail', () => {
    const run = simulate({
      tenants: [...many('healthy', 1_000, 1 / 60).map((tenant) => ({ ...tenant, fromMs: 10_000 })), ...attackers(10)],
      seconds: 130,
      fails: onlyAttackers,
    });
    const calls = run.all.slice(0, 1_000).reduce((sum, tenant) => sum + tenant.calls, 0);
    const elsewhere = run.all.slice(0, 1_000).reduce((sum, tenant) => sum + tenant.elsewhere, 0);
    expect(calls).toBeGreaterThan(1_500);
    expect(elsewhere / calls).toBeLessThan(0.02);
  });

  it('serves the half of six tenants that is well, and takes the others back within a cooldown and a second', () => {
    const run = simulate({
      tenants: many('tenant', 6, 5),
      seconds: 140,
      fails: (id, atMs) => Number(id.at(-1)) < 3 && atMs >= 20_000 && atMs < 80_000,
    });
    for (const n of [3, 4, 5]) expect(run.of(`tenant-${n}`)).toMatchObject({ elsewhere: 0, failed: 0 });
    for (const n of [0, 1, 2]) {
      expect(run.of(`tenant-${n}`).firstElsewhereMs).toBeLessThan(27_000);
      expect(run.of(`tenant-${n}`).lastElsewhereMs).toBeLessThan(80_000 + BREAKER_OPTIONS.cooldownMs + 1_500);
    }
    expect(states(run).at(-1)).toBe('closed');
  });

  it('finds out for everybody within a few calls each that the provider is down, sooner than a tenant alone does', () => {
    const tenants = [
      { id: 'acme', perSecond: 8 },
      { id: 'globex', perSecond: 6 },
      { id: 'initech', perSecond: 1 },
    ];
    const run = simulate({ tenants, seconds: 29, fails: downFrom(20_000) });
    for (const { id, perSecond } of tenants) {
      expect(run.of(id).firstElsewhereMs).toBeLessThan(perSecond > 1 ? 22_000 : 25_000);
      expect(run.of(id).failed).toBeLessThanOrEqual(Math.max(4, 2 * perSecond));
    }
    const alone = simulate({ tenants: tenants.slice(0, 1), seconds: 29, fails: downFrom(20_000) });
    expect(alone.of('acme').firstElsewhereMs).toBeLessThan(27_000);
    expect(alone.of('acme').firstElsewhereMs).toBeGreaterThan(23_000);
    expect(states(run)).toEqual(expect.arrayContaining(['open']));
    expect(run.reports.at(-1)).toMatchObject({ state: 'open', tenants: 3, tenantsOpen: 3 });
  });

  it('is open for all of 14 tenants while the provider is down, and closed for all within a cooldown after', () => {
    const run = simulate({ tenants: many('tenant', 14, 2), seconds: 80, fails: downFrom(20_000, 50_000) });
    expect(run.reports[30]).toMatchObject({ tenants: 14, tenantsOpen: 14 });
    for (const tenant of run.all) {
      // The first ones, then one round of probes for each cooldown.
      expect(tenant.failed).toBeLessThanOrEqual(6 + 3 * 3);
      expect(tenant.lastElsewhereMs).toBeLessThan(50_000 + BREAKER_OPTIONS.cooldownMs + 3_000);
    }
    expect(states(run)).toContain('open');
    expect(states(run).at(-1)).toBe('closed');
  });

  it('finds out within 2 s for 10,000 tenants with a call a minute, at about one failing call each, and uses it again soon', () => {
    const run = simulate({
      tenants: many('tenant', 10_000, 1 / 60),
      seconds: 320,
      fails: downFrom(120_000, 260_000),
    });
    const failed = run.all.map((tenant) => tenant.failed);
    const first = Math.min(...run.all.map(({ firstElsewhereMs }) => firstElsewhereMs ?? Infinity));
    expect(first).toBeLessThan(122_000);
    expect(failed.reduce((sum, one) => sum + one, 0) / failed.length).toBeLessThan(0.1);
    expect(failed.filter((one) => one > 1).length).toBeLessThan(failed.length / 100);
    const late = run.all.filter(({ lastElsewhereMs }) => (lastElsewhereMs ?? 0) > 260_000 + 10_000).length;
    expect(late).toBeLessThan(100);
    expect(states(run)).toContain('open');
  }, 30_000);

  it('opens for each of all tenants by its own share when 30 % of everybody fails', () => {
    const run = simulate({
      tenants: [
        { id: 'acme', perSecond: 8 },
        { id: 'globex', perSecond: 6 },
        { id: 'initech', perSecond: 2 },
      ],
      seconds: 60,
      fails: (_id, atMs, n) => atMs >= 20_000 && n % 10 < 3,
    });
    for (const tenant of run.all) expect(tenant.firstElsewhereMs).toBeLessThan(50_000);
  });

  it('goes to and fro no faster than its cooldown when the provider does, each tenant failing a few calls', () => {
    const run = simulate({
      tenants: [
        { id: 'acme', perSecond: 8 },
        { id: 'globex', perSecond: 6 },
      ],
      seconds: 120,
      fails: (_id, atMs) => Math.floor(atMs / 2_000) % 2 === 1,
    });
    expect(states(run).filter((state) => state === 'open').length).toBeLessThanOrEqual(
      120_000 / BREAKER_OPTIONS.cooldownMs,
    );
    for (const tenant of run.all) expect(tenant.failed / tenant.calls).toBeLessThan(0.15);
  });

  it('holds nobody back for what one tenant alone meets, even those without history', () => {
    const run = simulate({
      tenants: [...attackers(1), ...many('slow', 30, 1 / 60)],
      seconds: 180,
      fails: onlyAttackers,
    });
    for (const tenant of run.all.slice(1)) expect(tenant.elsewhere).toBe(0);
  });

  const setUp = (): { clock: ReturnType<typeof createFakeClock>; breaker: Breaker; names: string[] } => {
    const clock = createFakeClock(1_000_000);
    const names: string[] = [];
    const breaker = createBreaker({
      clock,
      options: BREAKER_OPTIONS,
      onChange: ({ to, openFor, tenants, tenantsOpen }) =>
        names.push(`${to} for ${tenantsOpen} of ${tenants}: ${openFor.toSorted().join(' ')}`),
    });
    return { clock, breaker, names };
  };
  const enter = (breaker: Breaker, party: string): BreakerPass => {
    const pass = breaker.tryEnter(party);
    if (pass === undefined) throw new Error(`the breaker is open for ${party}`);
    return pass;
  };
  const openFor = (breaker: Breaker, ...parties: string[]): void => {
    for (const party of parties) while (breaker.waitMs(party) === 0) enter(breaker, party).fail();
  };

  it('says for whom it is open: for one of several it is partly open, for most of them open', () => {
    const { breaker, names } = setUp();
    for (const party of ['acme', 'globex', 'hooli']) enter(breaker, party).succeed();
    openFor(breaker, 'initech');
    expect(breaker.report()).toMatchObject({ state: 'partly_open', tenants: 4, tenantsOpen: 1, openFor: ['initech'] });
    openFor(breaker, 'globex', 'hooli');
    expect(breaker.report()).toMatchObject({ state: 'open', tenants: 4, tenantsOpen: 3 });
    expect(names).toEqual(['partly_open for 1 of 4: initech', 'open for 2 of 4: globex initech']);
  });

  it('lets one tenant’s failing probes delay no other: each has its own after its cooldown', () => {
    const { clock, breaker } = setUp();
    openFor(breaker, 'attacker', 'acme');
    clock.advance(BREAKER_OPTIONS.cooldownMs);
    for (let n = 0; n < 50; n++) breaker.tryEnter('attacker')?.fail();
    for (let n = 0; n < 3; n++) enter(breaker, 'acme').succeed();
    expect(breaker.waitMs('acme')).toBe(0);
    expect(breaker.waitMs('attacker')).toBe(BREAKER_OPTIONS.cooldownMs);
  });

  it('opens for no tenant by a few failures at one moment, whatever the others meet: only where a second passes without success', () => {
    const { clock, breaker } = setUp();
    openFor(breaker, 'attacker', 'another');
    enter(breaker, 'acme').succeed();
    for (let n = 0; n < 10; n++) enter(breaker, 'acme').fail();
    expect(breaker.waitMs('acme')).toBe(0);
    clock.advance(1_000);
    enter(breaker, 'acme').fail();
    expect(breaker.waitMs('acme')).toBeGreaterThan(0);
  });

  it('lets a tenant without history begin with probes while two others fail, and go on with its first content, long before its verdict', () => {
    const { breaker } = setUp();
    openFor(breaker, 'attacker', 'another');
    const probes = Array.from({ length: 10 }, () => breaker.tryEnter('acme')).filter((pass) => pass !== undefined);
    expect(probes.map(({ probe }) => probe)).toEqual([true, true, true]);
    expect(breaker.waitMs('acme')).toBeGreaterThan(0);
    probes[0]?.answers();
    for (let n = 0; n < 50; n++) expect(enter(breaker, 'acme').probe).toBe(false);
    expect(breaker.waitMs('acme')).toBe(0);
  });

  it('opens for a tenant without history at the first failure of a probe, while two others fail', () => {
    const { breaker } = setUp();
    openFor(breaker, 'attacker', 'another');
    enter(breaker, 'acme').fail();
    expect(breaker.waitMs('acme')).toBe(BREAKER_OPTIONS.cooldownMs);
  });

  it('closes by the gateway’s own probes for whoever has waited its cooldown, and counts them as no tenant', () => {
    const { clock, breaker } = setUp();
    openFor(breaker, 'acme');
    for (let n = 0; n < 3; n++) enter(breaker, OWN_PARTY).succeed();
    expect(breaker.waitMs('acme')).toBe(BREAKER_OPTIONS.cooldownMs);
    clock.advance(BREAKER_OPTIONS.cooldownMs);
    enter(breaker, OWN_PARTY).fail();
    for (let n = 0; n < 2; n++) enter(breaker, OWN_PARTY).succeed();
    expect(breaker.waitMs('acme')).toBeGreaterThan(0);
    enter(breaker, OWN_PARTY).succeed();
    expect(breaker.waitMs('acme')).toBe(0);
    expect(breaker.report()).toMatchObject({ state: 'closed', tenants: 1, tenantsOpen: 0 });
  });

  it('counts a silent tenant for no longer than its verdicts, or until it has had the time to probe', () => {
    const { clock, breaker } = setUp();
    openFor(breaker, 'acme');
    enter(breaker, 'globex').succeed();
    expect(breaker.report()).toMatchObject({ state: 'partly_open', tenants: 2 });
    clock.advance(BREAKER_OPTIONS.windowMs + 1);
    expect(breaker.report()).toMatchObject({ state: 'closed', tenants: 0, tenantsOpen: 0 });
    const probes = Array.from({ length: 10 }, () => breaker.tryEnter('acme')).filter((pass) => pass !== undefined);
    expect(probes).toHaveLength(BREAKER_OPTIONS.probes);
  });

  it('remembers 20,000 tenants, the ones heard of last, and takes no late verdict for whoever has the place now', () => {
    const { breaker } = setUp();
    const late = Array.from({ length: 30 }, () => enter(breaker, 'first'));
    for (let n = 0; n < 25_000; n++) enter(breaker, `tenant-${n}`).succeed();
    for (const pass of late) pass.fail();
    expect(breaker.report()).toMatchObject({ state: 'closed', tenants: 20_000, tenantsOpen: 0 });
    openFor(breaker, 'tenant-24999');
    expect(breaker.waitMs('tenant-24999')).toBeGreaterThan(0);
  });
});
