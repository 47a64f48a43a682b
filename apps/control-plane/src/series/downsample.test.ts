import fc from 'fast-check';
import { downsample, type Sample } from './downsample.ts';

describe('downsample', () => {
  it('keeps a spike of one sample among a million at its own instant and height', () => {
    const samples = Array.from({ length: 1_000_000 }, (_, i): Sample => ({
      atMs: i * 1000,
      value: i === 654_321 ? 9_000 : i % 7,
    }));
    const kept = downsample(samples, 600);
    expect(kept.length).toBeLessThanOrEqual(600);
    expect(kept).toContainEqual({ atMs: 654_321_000, value: 9_000 });
    expect(kept[0]).toEqual(samples[0]);
    expect(kept.at(-1)).toEqual(samples.at(-1));
  });

  it('keeps gaps: a missing sample stays a null, and a long gap has no value within', () => {
    const samples = Array.from({ length: 10_000 }, (_, i): Sample => ({
      atMs: i,
      value: i >= 4_000 && i < 6_000 ? null : 1,
    }));
    const kept = downsample(samples, 100);
    expect(kept.filter(({ value }) => value === null).length).toBe(4);
    expect(kept.some(({ atMs, value }) => value !== null && atMs >= 4_000 && atMs < 6_000)).toBe(false);
    expect(
      downsample([...samples.slice(0, 100), { atMs: 100, value: null }, ...samples.slice(101, 1000)], 50).some(
        ({ value }) => value === null,
      ),
    ).toBe(true);
  });

  it('leaves extremes, order and bounds as they are, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.integer({ min: -1000, max: 1000 }), { freq: 4 }), { minLength: 1, maxLength: 500 }),
        fc.integer({ min: 5, max: 200 }),
        (values, points) => {
          const kept = downsample(
            values.map((value, i): Sample => ({ atMs: i * 10, value })),
            points,
          );
          const numbers = (list: readonly (number | null)[]) => list.filter((value): value is number => value !== null);
          const [all, left] = [numbers(values), numbers(kept.map(({ value }) => value))];
          expect(kept.length).toBeLessThanOrEqual(Math.max(points, 5));
          expect(kept.map(({ atMs }) => atMs)).toEqual(kept.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
          if (all.length > 0)
            expect([Math.min(...left), Math.max(...left)]).toEqual([Math.min(...all), Math.max(...all)]);
        },
      ),
    );
  });
});
