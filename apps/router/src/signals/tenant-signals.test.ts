import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createTenantSignals, type TenantSignalStore } from './tenant-signals.ts';

let clock: FakeClock;
let signals: TenantSignalStore;
let n: number;
beforeEach(() => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  signals = createTenantSignals({ clock });
  n = 0;
});
const answer = (tenant: string, outputTokens: number, atMs = clock.now()) => signals.answered({ id: `u${(n += 1)}`, tenant, atMs, outputTokens });
const refuse = (tenant: string, count: number, atMs = clock.now()) => signals.refused({ id: `a${(n += 1)}`, tenant, atMs, count });

describe('difficulty', () => {
  it('is the mean length of answers as a share of 750 tokens, and never above 1', () => {
    for (let i = 0; i < 10; i += 1) answer('acme', 250);
    answer('globex', 20);
    answer('novel', 40_000);
    expect(signals.of('acme')?.difficulty).toBeCloseTo(1 / 3, 12);
    expect(signals.of('globex')?.difficulty).toBeCloseTo(20 / 750, 12);
    expect(signals.of('novel')?.difficulty).toBe(1);
  });

  it('follows a change within minutes: a time constant of 60 s', () => {
    for (let s = 0; s < 300; s += 1, clock.advance(1_000)) answer('acme', 750);
    for (let s = 0; s < 60; s += 1, clock.advance(1_000)) answer('acme', 0);
    expect(signals.of('acme')?.difficulty).toBeCloseTo(Math.exp(-1), 2);
  });

  it('does not depend on the order in which a batch arrives', () => {
    const start = clock.now();
    const other = createTenantSignals({ clock });
    const events = [0, 1, 2, 3].map((i) => ({ id: `e${i}`, tenant: 'acme', atMs: start + i * 20_000, outputTokens: i * 100 }));
    for (const event of events) signals.answered(event);
    for (const event of events.toReversed()) other.answered(event);
    expect(other.of('acme')?.difficulty).toBeCloseTo(signals.of('acme')?.difficulty ?? -1, 12);
  });
});

describe('pressure', () => {
  it('is near the refused share of a flooded tenant, and 0 for the others', () => {
    for (let s = 0; s < 60; s += 1, clock.advance(1_000)) {
      for (let i = 0; i < 5; i += 1) answer('initech', 20);
      refuse('initech', 115);
      answer('acme', 20);
    }
    expect(signals.of('initech')?.pressure).toBeGreaterThan(0.9);
    expect(signals.of('acme')?.pressure).toBe(0);
  });

  it('is small after one refusal of a quiet tenant', () => {
    refuse('acme', 1);
    expect(signals.of('acme')?.pressure).toBeLessThan(0.1);
  });

  it('fades by the clock when nothing arrives', () => {
    refuse('acme', 100);
    const before = signals.of('acme')?.pressure ?? 0;
    clock.advance(10 * 60_000);
    expect(before).toBeGreaterThan(0.9);
    expect(signals.of('acme')?.pressure).toBeLessThan(0.001);
  });
});

describe('the store', () => {
  it('counts a repeated delivery once', () => {
    const event = { id: 'x', tenant: 'acme', atMs: clock.now(), outputTokens: 750 };
    expect([signals.answered(event), signals.answered(event)]).toEqual([true, false]);
    expect(signals.of('acme')?.events).toBe(1);
  });

  it('stays bounded: the tenant heard of longest ago goes, and ids are forgotten oldest first', () => {
    signals = createTenantSignals({ clock, maxTenants: 2, maxIds: 2 });
    for (const tenant of ['a', 'b', 'a', 'c']) answer(tenant, 1);
    expect(signals.all().map((one) => one.tenant)).toEqual(['a', 'c']);
    expect(signals.answered({ id: 'u1', tenant: 'a', atMs: clock.now(), outputTokens: 1 })).toBe(true);
    expect(signals.of('b')).toBeUndefined();
  });
});
