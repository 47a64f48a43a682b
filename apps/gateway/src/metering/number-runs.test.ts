import fc from 'fast-check';
import { NumberRuns } from './number-runs.ts';

it('holds the numbers that were added, in whatever order, as the fewest runs', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 3 }))), (added) => {
      const runs = new NumberRuns();
      const expected = new Set<number>();
      for (const [from, more] of added) {
        runs.add(from, from + more);
        for (let number = from; number <= from + more; number += 1) expected.add(number);
      }
      expect(runs.runs.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))).toEqual(
        [...expected].sort((a, b) => a - b),
      );
      for (let number = 0; number < 46; number += 1) expect(runs.has(number)).toBe(expected.has(number));
      for (const [i, [from]] of runs.runs.entries())
        if (i > 0) expect(from).toBeGreaterThan((runs.runs[i - 1] as readonly [number, number])[1] + 1);
    }),
  );
});

it('gives the first run up where it begins with the number that is asked for', () => {
  const runs = new NumberRuns();
  for (const number of [7, 3, 4]) runs.add(number);
  expect([runs.takeFrom(2), runs.takeFrom(3), runs.takeFrom(3), runs.takeFrom(7), runs.runs]).toEqual([
    undefined,
    4,
    undefined,
    7,
    [],
  ]);
});
