import { createFakeClock } from '@sluice/testing';
import { createDeadline, nextExpiry } from './deadline.ts';

describe('createDeadline', () => {
  it('counts down to nothing and not below', () => {
    const clock = createFakeClock(5_000);
    const deadline = createDeadline({ clock, totalMs: 1_000 });
    clock.advance(400);
    expect([deadline.remaining(), deadline.bound(500), deadline.bound(900), deadline.expired]).toEqual([
      600,
      500,
      600,
      false,
    ]);
    clock.advance(700);
    expect([deadline.remaining(), deadline.bound(500), deadline.expired]).toEqual([0, 0, true]);
  });
});

describe('nextExpiry', () => {
  const limits = { firstByteMs: 60, idleMs: 30 };
  it('is the first-byte limit until a byte has come, then the idle limit since the last one', () => {
    expect(nextExpiry({ totalAtMs: 1_000, sentAtMs: 100, lastByteAtMs: undefined }, limits)).toEqual({
      kind: 'first_byte',
      atMs: 160,
    });
    expect(nextExpiry({ totalAtMs: 1_000, sentAtMs: 100, lastByteAtMs: 400 }, limits)).toEqual({
      kind: 'idle',
      atMs: 430,
    });
  });

  it('is the total where that ends sooner or at the same time', () => {
    expect(nextExpiry({ totalAtMs: 160, sentAtMs: 100, lastByteAtMs: undefined }, limits)).toEqual({
      kind: 'total',
      atMs: 160,
    });
    expect(nextExpiry({ totalAtMs: 420, sentAtMs: 100, lastByteAtMs: 400 }, limits)).toEqual({
      kind: 'total',
      atMs: 420,
    });
  });
});
