import { createCancelToken } from '../../cancel-token.ts';
import { createStartTurns, type StartTurns } from './start-turns.ts';

const SMALL = 500;

describe('turns to begin', () => {
  let turns: StartTurns;
  let nextTurns: (() => void)[];
  let begun: string[];
  let nowMs: number;
  beforeEach(() => {
    nextTurns = [];
    begun = [];
    nowMs = 1_000;
    turns = createStartTurns({ unitsPerTurn: 4, onNextTurn: (callback) => nextTurns.push(callback) });
  });

  async function begin(tenant: string, bytes = SMALL, cancel = createCancelToken()): Promise<void> {
    const turn = turns.turn(tenant, bytes, nowMs, cancel);
    if (turn !== undefined) await turn;
    if (cancel.reason === undefined) begun.push(tenant);
  }

  /** The loop's next turn; false when nobody asked for it. */
  async function nextTurn(): Promise<boolean> {
    const callbacks = nextTurns.splice(0);
    for (const callback of callbacks) callback();
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    return callbacks.length > 0;
  }

  it('let a few calls begin at once and ask for no other turn', () => {
    for (let i = 0; i < 4; i += 1) void begin('acme');
    expect(begun).toHaveLength(4);
    expect(nextTurns).toHaveLength(0);
  });

  it('let a burst begin a few at a time, and all of it', async () => {
    for (let i = 0; i < 11; i += 1) void begin('acme');
    const counts = [begun.length];
    while (await nextTurn()) counts.push(begun.length);
    expect(counts).toEqual([4, 8, 11]);
    expect(turns.waiting).toBe(0);
  });

  it("let another tenant's call begin in the next turn, whatever burst came before it", async () => {
    for (let i = 0; i < 100; i += 1) void begin('acme');
    void begin('globex');
    await nextTurn();
    expect(begun.slice(4)).toEqual(['acme', 'globex', 'acme', 'acme']);
  });

  it('rotate among the tenants across turns', async () => {
    for (let i = 0; i < 4; i += 1) void begin('first');
    for (const tenant of ['a', 'b', 'c', 'd', 'e', 'f']) for (let i = 0; i < 3; i += 1) void begin(tenant);
    begun = [];
    while (await nextTurn());
    expect(begun.slice(0, 12)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'a', 'b', 'c', 'd', 'e', 'f']);
    expect(begun).toHaveLength(18);
  });

  it('count a large body for as much as it takes', async () => {
    for (let i = 0; i < 4; i += 1) void begin('first');
    void begin('acme', 64 * 1024);
    void begin('globex');
    await nextTurn();
    expect(begun.slice(4)).toEqual(['acme']);
    await nextTurn();
    expect(begun.slice(4)).toEqual(['acme', 'globex']);
  });

  it('do not let a late call overtake those that wait', () => {
    for (let i = 0; i < 5; i += 1) void begin('acme');
    nowMs += 1_000;
    void begin('acme');
    expect(begun).toHaveLength(4);
    expect(turns.waiting).toBe(2);
  });

  it('are free again after a while in which nobody waits', () => {
    for (let i = 0; i < 4; i += 1) void begin('acme');
    nowMs += 10;
    void begin('acme');
    expect(begun).toHaveLength(5);
  });

  it('let go of a call that is given up, and count it for nothing', async () => {
    for (let i = 0; i < 4; i += 1) void begin('first');
    const cancel = createCancelToken();
    const all = [begin('acme', SMALL, cancel), begin('globex')];
    cancel.cancel('client_closed');
    await all[0];
    expect(turns.waiting).toBe(1);
    await nextTurn();
    await Promise.all(all);
    expect(begun.slice(4)).toEqual(['globex']);
    expect(await nextTurn()).toBe(false);
  });

  it('leave the loop to others between two turns', async () => {
    const real = createStartTurns({ unitsPerTurn: 4 });
    const seen: number[] = [];
    let count = 0;
    const all = Array.from({ length: 12 }, async () => {
      await real.turn('acme', SMALL, nowMs, createCancelToken());
      count += 1;
    });
    const look = (): void => {
      seen.push(count);
      if (count < 12) setImmediate(look);
    };
    setImmediate(look);
    await Promise.all(all);
    expect(seen.filter((n) => n < 12)).toEqual(expect.arrayContaining([8]));
  });
});
