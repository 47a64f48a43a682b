import { OperatorState, type GatewayReport, type SecondCounts } from '@sluice/contracts';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

const START_MS = Date.UTC(2026, 5, 1);
const NOW_S = START_MS / 1000;

let clock: FakeClock;
let databaseDown: boolean;
let spineDown: boolean;
let test: TestPlane;
beforeEach(async () => {
  clock = createFakeClock(START_MS);
  databaseDown = false;
  spineDown = false;
  test = await startTestPlane(
    {
      ledgerHead: async () => {
        if (databaseDown) throw new Error('connection refused');
        return { rows: 7, last_settled_at: null };
      },
      queues: {
        readStates: async () => {
          if (spineDown) throw new Error('connection refused');
          return [
            {
              queue: 'audit',
              dlq: 'audit-dlq',
              depth: 2,
              oldest_age_s: 4,
              topic: 'audit-events',
              waiting: 1,
              in_flight: 0,
              consumer: 'control-plane',
            },
          ];
        },
        knows: () => true,
        redrive: async () => ({ moved: 0, left: 0, refused: 0, native: false, finished: true }),
        deadLetters: async () => [],
        discard: async () => ({ discarded: 0, left: 0 }),
      },
    },
    clock,
  );
});
afterEach(() => test.close());

function second(at: number, ok: number, shed = 0): SecondCounts {
  return {
    second: at,
    workspace: 'acme-prod',
    tenant: 'acme',
    outcomes: { ok, shed },
    tokens: ok * 10,
    queue_ms_max: ok,
    queue_ms_sum: ok,
  };
}

async function report(gateway: string, seconds: SecondCounts[], extra: Partial<GatewayReport> = {}): Promise<void> {
  const body: GatewayReport = {
    gateway_id: gateway,
    cell_id: 'cell-shared-1',
    pid: 1,
    started_at_ms: START_MS - 1000,
    at_ms: clock.now(),
    state: 'serving',
    config_version: 1,
    config_connected: true,
    config_age_ms: 0,
    store: 'memory',
    estimates: [],
    outbox: {
      epoch: 1,
      last_sequence: 0,
      published_sequence: 0,
      acked_sequence: 0,
      pending: 0,
      oldest_age_ms: 0,
      bytes: 0,
      segments: 0,
    },
    rss_bytes: 1,
    in_flight: 0,
    seconds,
    breakers: [],
    pools: [],
    providers: [],
    missing_secrets: [],
    ...extra,
  };
  const res = await test.call('POST', '/internal/gateways/report', body, { authorization: 'Bearer gateway-token' });
  expect(res.status).toBe(204);
}

async function state(): Promise<OperatorState> {
  const res = await test.call('GET', '/api/state');
  expect(res.status).toBe(200);
  return OperatorState.parse(await res.json());
}

const acme = (found: OperatorState): OperatorState['tenants'][number] | undefined =>
  found.tenants.find((tenant) => tenant.tenant === 'acme');

const BREAKER = { provider: 'primary', failure_percent: 90, calls: 30 };

describe('the live picture', () => {
  it('sums what several gateways report, second by second, without gaps', async () => {
    await report('gw-1', [second(NOW_S - 2, 5), second(NOW_S - 1, 3, 1)]);
    await report('gw-2', [second(NOW_S - 1, 4)]);
    const found = acme(await state());
    expect(found?.seconds.map((s) => s.second)).toEqual(Array.from({ length: 120 }, (_, i) => NOW_S - 120 + i));
    expect(found?.seconds.at(-1)).toEqual({
      second: NOW_S - 1,
      outcomes: { ok: 7, shed: 1 },
      tokens: 70,
      queue_ms_max: 4,
      queue_ms_mean: 7 / 8,
    });
    expect(found?.totals).toEqual({ ok: 12, shed: 1 });
    expect((await state()).tenants.find((tenant) => tenant.tenant === 'initech')?.totals).toEqual({});
  });

  it('counts a second that is reported twice once, but both runs of a gateway that restarted in it', async () => {
    await report('gw-1', [second(NOW_S - 1, 3)]);
    await report('gw-1', [second(NOW_S - 1, 4)]);
    expect(acme(await state())?.totals).toEqual({ ok: 4, shed: 0 });
    await report('gw-1', [second(NOW_S - 1, 2)], { started_at_ms: START_MS - 500 });
    expect(acme(await state())?.totals).toEqual({ ok: 6, shed: 0 });
  });

  it('shows a gateway whose clock is an hour ahead with its calls, says so, and follows it when the clock is set right again', async () => {
    await report('gw-1', [second(NOW_S + 3599, 5)], { at_ms: START_MS + 3_600_000 });
    const ahead = await state();
    expect(acme(ahead)?.totals).toEqual({ ok: 5, shed: 0 });
    expect(ahead.problems.join(' ')).toContain('The clock of gateway gw-1 is 3600 s ahead');
    clock.advance(1_000);
    await report('gw-1', [second(NOW_S, 2)]);
    const right = await state();
    expect(right.problems.join(' ')).not.toContain('The clock of');
    expect(acme(right)?.totals).toEqual({ ok: 7, shed: 0 });
  });

  it('sums what providers answered over all live gateways, means by their weight', async () => {
    const figures = { provider: 'primary', attempts: 4, failed: 1, answered: 3, ttfb_ms_mean: 100, ttfb_ms_max: 300 };
    await report('gw-1', [], { providers: [figures] });
    await report('gw-2', [], { providers: [{ ...figures, answered: 1, ttfb_ms_mean: 500, ttfb_ms_max: 500 }] });
    expect((await state()).providers.find((p) => p.provider === 'primary')?.figures).toEqual({
      attempts: 8,
      failed: 2,
      answered: 4,
      ttfb_ms_mean: 200,
      ttfb_ms_max: 500,
    });
  });

  it('forgets seconds that are older than two minutes', async () => {
    await report('gw-1', [second(NOW_S - 1, 3)]);
    clock.advance(121_000);
    expect(acme(await state())?.totals).toEqual({});
  });

  it('says which gateway no longer reports, and shows no breakers of it', async () => {
    await report('gw-1', [], {
      breakers: [
        { ...BREAKER, model: 'sim-small', state: 'open', tenants: 14, tenants_open: 14, open_for: ['acme'] },
        { ...BREAKER, model: 'sim-large', state: 'partly_open', tenants: 3, tenants_open: 1, open_for: ['initech'] },
      ],
    });
    const live = await state();
    expect(live.providers.find((p) => p.provider === 'primary')?.breakers).toMatchObject([
      { state: 'open', gateway_id: 'gw-1', tenants_open: 14, tenants: 14 },
      { state: 'partly_open', gateway_id: 'gw-1', tenants_open: 1, open_for: ['initech'] },
    ]);
    expect(live.problems.join(' ')).not.toContain('sim-large');
    expect(live.problems.join(' ')).toContain('breaker for primary / sim-small is open on gw-1, for 14 of 14 tenants');
    clock.advance(10_000);
    const later = await state();
    expect(later.gateways).toMatchObject([{ gateway_id: 'gw-1', live: false }]);
    expect(later.providers.find((p) => p.provider === 'primary')?.breakers).toEqual([]);
    expect(later.problems.join(' ')).toContain('Gateway gw-1 has not reported since');
  });

  it('answers while the database and the spine are down, and says since when', async () => {
    await test.plane.beat();
    expect(await state()).toMatchObject({ ledger: { rows: 7 }, queues: [{ queue: 'audit', depth: 2 }] });
    databaseDown = true;
    spineDown = true;
    for (let i = 0; i < 2; i += 1) await test.plane.beat();
    const down = await state();
    expect(down).toMatchObject({ ledger: null, queues: null });
    expect(down.problems.filter((text) => text.includes('2026-06-01T00:00:00.000Z'))).toHaveLength(2);
    databaseDown = false;
    spineDown = false;
    for (let i = 0; i < 2; i += 1) await test.plane.beat();
    expect((await state()).ledger).toEqual({ rows: 7, last_settled_at: null });
  });

  it('shows running chaos until it is stopped', async () => {
    await test.call('POST', '/api/chaos/flood', { tenant: 'initech', rps: 120, seconds: 30 });
    expect((await state()).chaos).toMatchObject([
      { kind: 'flood', target: 'initech', ends_at: '2026-06-01T00:00:30.000Z' },
    ]);
    expect(await (await test.call('POST', '/api/chaos/stop')).json()).toEqual({ stopped: 1 });
    expect((await state()).chaos).toEqual([]);
  });

  it('is streamed to an operator for as long as the session lasts, and no longer', async () => {
    const [mine, other] = await Promise.all([
      test.call('GET', '/api/state/stream'),
      test.plane.sessions.open({ user: 'ada', role: 'viewer' }),
    ]);
    const theirs = await fetch(`${test.url}/api/state/stream`, { headers: { authorization: `Bearer ${other}` } });
    const ended = theirs.text();
    const reader = mine.body?.getReader();
    await reader?.read();
    await test.plane.sessions.endOf('ada');
    await test.plane.beat();
    expect((await ended).match(/event: state/g)).toHaveLength(1);
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('event: state');
    await reader?.cancel();
  });
});
