import { estimators, propensities, refusals, updates } from './router-statistics.ts';

it('the short form of each statistic holds, and says what it measured', () => {
  for (const { lines, faults } of [propensities(20_000, 3_000), updates(20_000), refusals(undefined)]) {
    expect(faults).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
  }
});

it('a log that is too short for .002 is told as a fault, and a missing folder as a missing folder', () => {
  expect(estimators(400).faults.length).toBeGreaterThan(0);
  expect(refusals(undefined).lines).toEqual([expect.stringContaining('no real log')]);
});
