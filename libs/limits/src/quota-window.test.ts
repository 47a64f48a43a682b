import type { QuotaSpan } from '@sluice/contracts';
import fc from 'fast-check';
import { QuotaCounter, windowSpan } from './quota-window.ts';

const HOUR_MS = 3_600_000;
const at = (text: string): number => Date.parse(text);
const month = (timeZone = 'UTC') => windowSpan({ kind: 'calendar', period: 'month' }, timeZone);
const rolling: QuotaSpan = { kind: 'rolling', seconds: 3_600, steps: 12 };

describe('a quota counter whose clock is set', () => {
  it('over the end of the month and back counts in both months what was used in each', () => {
    const counter = new QuotaCounter(month());
    const end = at('2026-12-01T00:00:00Z');
    counter.add(100, end - 60_000);
    counter.add(7, end + 59 * 60_000);
    expect(counter.used).toBe(7);
    counter.add(10, end - 30_000);
    expect([counter.used, counter.resetAt()]).toEqual([110, end]);
    counter.roll(end);
    expect([counter.used, counter.resetAt()]).toEqual([7, at('2027-01-01T00:00:00Z')]);
  });

  it('by an hour and back holds of a rolling window what it held', () => {
    const counter = new QuotaCounter(windowSpan(rolling, 'UTC'));
    const start = at('2026-11-30T23:00:00Z');
    for (let minute = 0; minute < 60; minute += 5) counter.add(10, start + minute * 60_000);
    const now = start + 59 * 60_000;
    counter.roll(now + 2 * HOUR_MS);
    expect(counter.used).toBe(0);
    counter.roll(now);
    expect(counter.used).toBe(120);
  });

  it('counts at any instant what was used in the period that holds it, however the clock went', () => {
    const span = month('Europe/Berlin');
    const use = fc.record({ at: fc.integer({ min: -40, max: 40 }), units: fc.integer({ min: 1, max: 9 }) });
    const end = at('2026-11-30T23:00:00Z');
    fc.assert(
      fc.property(fc.array(use, { maxLength: 30 }), (uses) => {
        const counter = new QuotaCounter(span);
        const sums = [0, 0];
        for (const { at: hour, units } of uses) {
          counter.add(units, end + hour * HOUR_MS);
          const place = hour < 0 ? 0 : 1;
          sums[place] = (sums[place] ?? 0) + units;
        }
        counter.roll(end - 1);
        expect(counter.used).toBe(sums[0]);
        counter.roll(end);
        expect(counter.used).toBe(sums[1]);
      }),
    );
  });

  it('that is read from what was written in the future counts only what is not ahead of it', () => {
    const now = at('2026-11-30T23:30:00Z');
    const written = new QuotaCounter(month());
    written.add(40, now);
    written.add(2, now + HOUR_MS);
    const read = new QuotaCounter(month());
    read.load(written.steps(now + HOUR_MS), now);
    expect(read.used).toBe(40);
    read.roll(now + HOUR_MS);
    expect(read.used).toBe(2);
  });

  it('keeps no more of what is forgotten than one step back of the clock needs', () => {
    const counter = new QuotaCounter(windowSpan(rolling, 'UTC'));
    for (let step = 0; step < 1_000; step += 1) counter.add(1, step * 300_000);
    expect(counter.steps(1_000 * 300_000).length).toBeLessThanOrEqual(2 * 13);
  });
});
