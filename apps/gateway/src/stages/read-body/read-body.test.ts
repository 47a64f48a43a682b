import { createFakeClock, type FakeTimer } from '@sluice/testing';
import { createCancelToken } from '../../cancel-token.ts';
import { createBodyMemory } from './body-memory.ts';
import { createParseTurns, type ParseTurns } from './parse-turns.ts';

describe('memory of request bodies', () => {
  const memory = () => createBodyMemory({ tenantBytes: 100, processBytes: 150, floorBytes: 20, hardBytes: 200 });

  it('is bounded for a tenant, and is there again once a body is read', () => {
    const bodies = memory();
    expect(bodies.take('acme', 0, 60)).toBe(true);
    expect(bodies.take('acme', 0, 60)).toBe(false);
    bodies.give('acme', 60);
    expect(bodies.take('acme', 0, 60)).toBe(true);
  });

  it('is bounded for all tenants together, however many they are', () => {
    const bodies = memory();
    const taken = Array.from({ length: 50 }, (_, n) => bodies.take(`t${n}`, 0, 15)).filter(Boolean);
    expect(taken).toHaveLength(Math.floor(200 / 15));
    bodies.give('t0', 15);
    expect(bodies.take('t49', 0, 15)).toBe(true);
  });

  it('leaves every tenant its floor when others have taken all there is', () => {
    const bodies = memory();
    for (const tenant of ['a', 'b']) expect(bodies.take(tenant, 0, 75)).toBe(true);
    expect(bodies.take('globex', 0, 15)).toBe(true);
    expect(bodies.take('globex', 0, 15)).toBe(false);
  });

  it('has room for the only body of a tenant, however large its policy allows', () => {
    const bodies = memory();
    expect(bodies.take('acme', 0, 90)).toBe(true);
    expect(bodies.take('acme', 90, 90)).toBe(true);
    expect(bodies.take('acme', 0, 1)).toBe(false);
  });
});

describe('turns to parse', () => {
  const clock = createFakeClock();
  let turns: ParseTurns;
  let parsed: number[];
  beforeEach(() => {
    turns = createParseTurns({
      clock,
      timers: {
        setTimeout: (callback, ms) => clock.setTimeout(callback, ms),
        clearTimeout: (timer) => clock.clearTimeout(timer as FakeTimer),
      },
    });
    parsed = [];
  });

  /** A body whose parsing takes 100 ms. */
  async function parseBody(tenant: string, cancel = createCancelToken()): Promise<void> {
    const turn = turns.turn(tenant, cancel);
    if (turn !== undefined) await turn;
    const done = cancel.reason === undefined;
    if (done) parsed.push(clock.monotonic());
    turns.spent(tenant, done ? 100 : 0);
  }

  /** Moves time in small steps, so that those who were woken go on in between. */
  async function pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 20) {
      clock.advance(20);
      for (let i = 0; i < 5; i += 1) await Promise.resolve();
    }
  }

  it('give a tenant a fifth of the time, in the order of arrival', async () => {
    const from = clock.monotonic();
    const all = [1, 2, 3, 4].map(() => parseBody('acme'));
    await pass(3_000);
    await Promise.all(all);
    expect(parsed.map((at) => at - from)).toEqual([0, 400, 900, 1400]);
  });

  it('make nobody wait for another tenant', async () => {
    const from = clock.monotonic();
    for (let i = 0; i < 5; i += 1) void parseBody('acme');
    await parseBody('globex');
    expect(parsed).toEqual([from, from]);
    await pass(3_000);
  });

  it('leave out a call that is given up, and go on to the next', async () => {
    const cancel = createCancelToken();
    const all = [parseBody('acme'), parseBody('acme', cancel), parseBody('acme')];
    cancel.cancel('client_closed');
    await pass(1_000);
    await Promise.all(all);
    expect(parsed).toHaveLength(2);
    expect(clock.pendingTimers()).toBe(0);
  });
});
