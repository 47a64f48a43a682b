import { createRandom } from '../testing/random.ts';
import { discoveries, kolmogorovSmirnov } from './distribution-shift.ts';
import { PageHinkley } from './page-hinkley.ts';

it('Page-Hinkley finds a fall of the mean soon and says nothing of a steady stream', () => {
  const random = createRandom(5);
  const steady = new PageHinkley({ delta: 0.05, threshold: 20, minimum: 30 });
  for (let i = 0; i < 5_000; i += 1) expect(steady.add(random() < 0.8 ? 1 : 0)).toBe(false);
  let found = 0;
  for (let i = 1; i <= 300 && found === 0; i += 1) if (steady.add(random() < 0.5 ? 1 : 0)) found = i;
  expect(found).toBeGreaterThan(0);
  expect(found).toBeLessThan(200);
});

it('Kolmogorov-Smirnov tells the size of a shift apart from its significance', () => {
  const random = createRandom(6);
  const sample = (shift: number): number[] => Array.from({ length: 4_000 }, () => random() + shift);
  expect(kolmogorovSmirnov(sample(0), sample(0)).p).toBeGreaterThan(0.01);
  const shifted = kolmogorovSmirnov(sample(0), sample(0.1));
  expect(shifted.distance).toBeCloseTo(0.1, 1);
  expect(shifted.p).toBeLessThan(1e-6);
});

it('of many tests only those are findings that hold together', () => {
  expect(discoveries([0.9, 0.001, 0.04, 0.008, 0.5], 0.05)).toEqual([false, true, false, true, false]);
  expect(discoveries([], 0.05)).toEqual([]);
});
