import fc from 'fast-check';
import { TokenBucket } from './token-bucket.ts';

describe('TokenBucket', () => {
  it('agrees with a model that counts whole units, and its wait is exact to the millisecond', () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 500 }),
      take: fc.integer({ min: 1, max: 30 }),
      force: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 40 }),
        fc.array(step),
        (perSecond, capacity, steps) => {
          const bucket = new TokenBucket(capacity, perSecond / 1000, 0);
          let level = capacity * 1000; // thousandths, so that the model is exact
          let now = 0;
          for (const { waitMs, take, force } of steps) {
            now += waitMs;
            level = Math.min(capacity * 1000, level + waitMs * perSecond);
            const fits = level >= take * 1000;
            expect(bucket.has(take, now)).toBe(fits);
            const wait = bucket.waitMs(take, now);
            expect(wait).toBe(take > capacity ? Infinity : fits ? 0 : Math.ceil((take * 1000 - level) / perSecond));
            expect(bucket.remaining(now)).toBe(Math.max(0, Math.floor(level / 1000)));
            if (!fits && !force) continue;
            bucket.take(take, now);
            level -= take * 1000;
          }
        },
      ),
    );
  });

  it('never holds more than its size, whatever is given back', () => {
    const bucket = new TokenBucket(10, 1, 0);
    bucket.give(5, 0);
    expect(bucket.remaining(0)).toBe(10);
  });

  it('gains nothing when its size goes up and down again', () => {
    const bucket = new TokenBucket(10, 0.001, 0);
    bucket.take(6, 0);
    bucket.reconfigure(100, 0.001, 0);
    expect(bucket.remaining(0)).toBe(40);
    bucket.reconfigure(10, 0.001, 0);
    expect(bucket.remaining(0)).toBe(4);
  });
});
