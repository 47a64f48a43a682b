import type { OperatorState, Outcome } from '@sluice/contracts';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createChaosWatch, type ChaosWatch } from './chaos-watch.ts';
import { expectFlood, expectProviderFault, type Expectation } from './expectations.ts';

const START_MS = Date.UTC(2026, 5, 1);

let clock: FakeClock;
let seconds: Record<string, { second: number; outcomes: Partial<Record<Outcome, number>>; wait: number }[]>;
let breaker: 'closed' | 'open' | 'half_open';
let watch: ChaosWatch;
beforeEach(() => {
  clock = createFakeClock(START_MS);
  seconds = { acme: [], initech: [] };
  breaker = 'closed';
  watch = createChaosWatch({ clock, picture });
});

function picture(): OperatorState {
  return {
    at: new Date(clock.now()).toISOString(),
    config_version: 1,
    chaos_enabled: true,
    tenants: Object.entries(seconds).map(([tenant, rows]) => ({
      tenant,
      name: tenant,
      plan: 'free',
      limits: { quotas: [] },
      workspaces: [],
      totals: {},
      seconds: rows.map(({ second, outcomes, wait }) => ({
        second,
        outcomes,
        tokens: 0,
        queue_ms_max: wait,
        queue_ms_mean: wait,
      })),
    })),
    providers: ['primary', 'secondary'].map((provider) => ({
      provider,
      display_name: provider,
      dialect: 'openai',
      pools: [],
      breakers:
        provider === 'primary'
          ? [
              {
                provider,
                model: 'sim-small',
                gateway_id: 'gw-1',
                state: breaker,
                failure_percent: 0,
                calls: 1,
                tenants: 3,
                tenants_open: breaker === 'closed' ? 0 : 3,
                open_for: [],
              },
            ]
          : [],
      figures: { attempts: 5, failed: 0, answered: 5, ttfb_ms_mean: 1, ttfb_ms_max: 1 },
    })),
    queues: null,
    gateways: [],
    anomalies: [],
    ledger: null,
    chaos: [],
    chaos_reports: [],
    problems: [],
  };
}

/** A second passes in which these calls end. */
function pass(calls: Record<string, Partial<Record<Outcome, number>>> = {}, wait = 0): void {
  const second = Math.floor(clock.now() / 1000);
  for (const [tenant, outcomes] of Object.entries(calls)) seconds[tenant]?.push({ second, outcomes, wait });
  clock.advance(1_000);
  watch.beat(picture());
}

const start = (expects: Expectation[], kind = 'flood') =>
  watch.started({ id: kind, kind, target: 'initech', ends_at: new Date(clock.now() + 60_000).toISOString() }, expects);
const verdicts = () => watch.reports()[0]?.checks.map(({ verdict }) => verdict);
const FLOODED = { initech: { throttled: 90, shed: 5 }, acme: { ok: 4 } };

describe('a flood that is watched', () => {
  it('holds when the flooder is refused and nobody else is, and says so in figures', () => {
    start(expectFlood('initech'));
    expect(verdicts()).toEqual(['waiting', 'waiting', 'waiting']);
    pass();
    pass(FLOODED, 0.4);
    expect(watch.reports()[0]?.checks[0]).toEqual({
      expected: 'every tenant but initech is unchanged: none shed, none throttled, no longer wait',
      observed:
        '4 calls of the others: 0 shed, 0 throttled, queue p99 at most 0.4 ms, longest wait 0.4 ms (before: 0.0 ms)',
      verdict: 'holds',
      phase: 'during',
    });
    expect(verdicts()).toEqual(['holds', 'holds', 'waiting']);
    watch.ended('flood');
    for (let s = 0; s < 5; s += 1) pass({ acme: { ok: 4 }, initech: { ok: 1 } });
    expect(verdicts()).toEqual(['holds', 'holds', 'holds']);
    expect(watch.reports()[0]?.phase).toBe('done');
    expect(watch.watching).toBe(false);
  });

  it('tells the p99 of the wait beside the longest one, and never too small a one', () => {
    start(expectFlood('initech'));
    pass();
    pass({ ...FLOODED, acme: { ok: 300 } }, 0.4);
    pass({ ...FLOODED, acme: { ok: 3 } }, 20);
    expect(watch.reports()[0]?.checks[0]?.observed).toContain('queue p99 at most 0.4 ms, longest wait 20.0 ms');
    // One in fifty waited long, so that it counts.
    pass({ ...FLOODED, acme: { ok: 6 } }, 19);
    expect(watch.reports()[0]?.checks[0]?.observed).toContain('queue p99 at most 19.0 ms, longest wait 20.0 ms');
  });

  it('fails for good when one call of a neighbour is shed, also when all is well afterwards', () => {
    start(expectFlood('initech'));
    pass();
    pass({ ...FLOODED, acme: { ok: 4, shed: 1 } });
    pass(FLOODED);
    expect(verdicts()?.[0]).toBe('failed');
  });

  it('fails when a neighbour waits longer than before by more than noise', () => {
    start(expectFlood('initech'));
    pass();
    pass(FLOODED, 26);
    expect(watch.reports()[0]?.checks[0]?.verdict).toBe('failed');
  });

  it('proves nothing where the others sent nothing', () => {
    start(expectFlood('initech'));
    for (let s = 0; s < 3; s += 1) pass({ initech: { throttled: 9 } });
    watch.ended('flood');
    for (let s = 0; s < 30; s += 1) pass();
    expect(verdicts()).toEqual(['unproven', 'failed', 'unproven']);
  });

  it('does not count what happened before it began or after it ended', () => {
    pass({ acme: { shed: 9 } });
    clock.advance(500);
    start(expectFlood('initech'));
    pass();
    pass(FLOODED);
    clock.advance(1_000);
    watch.ended('flood');
    pass({ acme: { shed: 9 } });
    expect(verdicts()?.[0]).toBe('holds');
  });
});

describe('a dead provider that is watched', () => {
  it('wants its breaker open while it is dead, and closed afterwards, each in its time', () => {
    start(expectProviderFault('down', 'primary', 0), 'down');
    breaker = 'open';
    // Streams that it was sending are cut in the first seconds, and nobody is to blame for that.
    pass({ acme: { ok: 3, upstream_error: 2 } });
    for (let s = 0; s < 3; s += 1) pass({ acme: { ok: 3 } });
    expect(watch.reports()[0]?.checks.map(({ verdict }) => verdict)).toEqual(['holds', 'holds', 'holds', 'waiting']);
    watch.ended('down');
    for (let s = 0; s < 95; s += 1) pass();
    expect(verdicts()?.[3]).toBe('failed');
  });

  it('one that is started again ends the first', () => {
    start(expectProviderFault('down', 'primary', 0), 'down');
    clock.advance(2_000);
    start(expectProviderFault('down', 'primary', 0), 'down');
    expect(watch.reports().map(({ phase }) => phase)).toEqual(['running', 'recovering']);
  });
});
