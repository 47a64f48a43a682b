import fc from 'fast-check';
import { nextDelay, parseRetryAfter } from './retry.ts';

const DELAYS = { baseDelayMs: 200, maxDelayMs: 5_000, remainingMs: 60_000 };

describe('nextDelay', () => {
  it('lies between nothing and the doubled base, never above the maximum', () => {
    const highest = [1, 2, 3, 9].map((attempt) => nextDelay({ ...DELAYS, attempt, random: () => 0.9999999 }));
    expect(highest).toEqual([199, 399, 799, 4999]);
    expect(nextDelay({ ...DELAYS, attempt: 9, random: () => 0 })).toBe(0);
  });

  it('waits at least as long as the provider asks, up to the maximum', () => {
    expect(nextDelay({ ...DELAYS, attempt: 1, retryAfterMs: 3_000, random: () => 0.5 })).toBe(3_000);
    expect(nextDelay({ ...DELAYS, attempt: 1, retryAfterMs: 90_000, random: () => 0.5 })).toBe(5_000);
  });

  it('is never a wait that the deadline does not allow', () => {
    const input = fc.record({
      attempt: fc.integer({ min: 1, max: 40 }),
      remainingMs: fc.integer({ min: 0, max: 6_000 }),
      retryAfterMs: fc.option(fc.double({ min: 0, max: 100_000, noNaN: true }), { nil: undefined }),
      share: fc.double({ min: 0, max: 0.999, noNaN: true }),
    });
    fc.assert(
      fc.property(input, ({ share, ...rest }) => {
        const delay = nextDelay({ ...DELAYS, ...rest, random: () => share });
        const wanted = nextDelay({ ...DELAYS, ...rest, remainingMs: Infinity, random: () => share });
        expect(wanted).toBeLessThanOrEqual(5_000);
        expect(delay).toBe(wanted !== undefined && wanted < rest.remainingMs ? wanted : undefined);
      }),
    );
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-02-03T10:00:00Z');
  it.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': ' 1.5 ' }, 1_500],
    [{ 'retry-after-ms': '120', 'retry-after': '1' }, 120],
    [{ 'retry-after-ms': 'soon', 'retry-after': '1' }, 1_000],
    [{ 'retry-after': ['7', '9'] }, 7_000],
    [{ 'retry-after': 'Tue, 03 Feb 2026 10:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Tue, 03 Feb 2026 09:00:00 GMT' }, 0],
    [{ 'retry-after': '99999999999' }, 86_400_000],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'later' }, undefined],
    [{}, undefined],
  ])('reads %j as %s ms', (headers, expected) => {
    expect(parseRetryAfter(headers, now)).toBe(expected);
  });
});
