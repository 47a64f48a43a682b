import { createFakeClock } from './fake-clock.ts';

describe('createFakeClock', () => {
  it('stands still until it is advanced', () => {
    const clock = createFakeClock(1_000);
    expect(clock.now()).toBe(1_000);
    clock.advance(250);
    expect(clock.now()).toBe(1_250);
    expect(clock.monotonic()).toBe(250);
  });

  it('fires timers in order of due time, each seeing its own due time', () => {
    const clock = createFakeClock(0);
    const fired: string[] = [];
    clock.setTimeout(() => fired.push(`late@${clock.now()}`), 20);
    clock.setTimeout(() => fired.push(`early@${clock.now()}`), 10);
    clock.setTimeout(() => fired.push(`early-too@${clock.now()}`), 10);
    clock.setTimeout(() => fired.push('never'), 31);
    clock.advance(30);
    expect(fired).toEqual(['early@10', 'early-too@10', 'late@20']);
    expect(clock.now()).toBe(30);
    expect(clock.pendingTimers()).toBe(1);
  });

  it('fires a timer that a callback sets, when it falls due within the same advance', () => {
    const clock = createFakeClock(0);
    const firedAt: number[] = [];
    const tick = (): void => {
      firedAt.push(clock.now());
      clock.setTimeout(tick, 10);
    };
    clock.setTimeout(tick, 10);
    clock.advance(35);
    expect(firedAt).toEqual([10, 20, 30]);
  });

  it('does not fire a cleared timer', () => {
    const clock = createFakeClock(0);
    let fired = false;
    const timer = clock.setTimeout(() => (fired = true), 10);
    clock.clearTimeout(timer);
    clock.advance(100);
    expect(fired).toBe(false);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('refuses to go back', () => {
    const clock = createFakeClock(0);
    expect(() => clock.advance(-1)).toThrow(RangeError);
    expect(clock.now()).toBe(0);
  });
});
