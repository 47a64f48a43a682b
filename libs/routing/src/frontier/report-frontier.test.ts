import {
  bestModel,
  chooseByUtility,
  chooseCostWeight,
  crossFitted,
  meanDearestCost,
  mixtureCostWithin,
  operatingPoint,
  type QualityTable,
} from './quality-table.ts';
import { averageGapRecovered } from './metrics.ts';
import { reportFrontier, strongShareCurve } from './report-frontier.ts';

/** Half of the prompts are easy: the weak model is as good there. */
const rows = Array.from({ length: 200 }, (_, i) => i % 2 === 0);
const table: QualityTable = {
  models: ['weak', 'strong'],
  qualities: rows.map((easy) => [easy ? 0.9 : 0.3, 0.9]),
  costs: rows.map(() => [1, 10]),
};

describe('the frontier of a router', () => {
  it("is the oracle's for perfect predictions: half the cost but for the weak calls, and no quality lost", () => {
    const report = reportFrontier(table.qualities, table, { loss: 0.027 });
    expect(report.aiq.router).toBeCloseTo(report.aiq.oracle, 12);
    expect(report.best).toMatchObject({ model: 'strong', quality: expect.closeTo(0.9, 12) });
    expect(report.savedWithin.router).toBeCloseTo(1 - 5.5 / 10, 12);
    expect(report.apgr).toBeCloseTo(0.75, 2);
    expect(report.cpt50).toBeCloseTo(0.25, 2);
  });

  it('is no better than a random mix of the two models when the predictions say nothing', () => {
    const random = rows.map((_, i) => [0.5, 0.5 + (0.3 * ((i * 7919) % 200)) / 200]);
    const report = reportFrontier(random, table, { loss: 0.027 });
    expect(Math.abs(report.apgr - 0.5)).toBeLessThan(0.05);
    expect(Math.abs(report.aiq.router - report.aiq.randomMix)).toBeLessThan(0.02);
    expect(report.aiq.hull).toBeCloseTo(report.aiq.randomMix, 12);
  });

  it('measures what is saved against the best single model, and a mix by its share of both', () => {
    const point = operatingPoint(table.qualities, table, bestModel(table), 0.1);
    expect(point).toMatchObject({ saved: expect.closeTo(0.45, 12), loss: expect.closeTo(0, 12), lossError: 0 });
    expect(
      mixtureCostWithin(
        [
          { cost: 1, quality: 0.6 },
          { cost: 10, quality: 0.9 },
        ],
        { cost: 10, quality: 0.9 },
        0.03,
      ),
    ).toBeCloseTo(9.1, 12);
    expect(mixtureCostWithin([{ cost: 1, quality: 0.6 }], { cost: 10, quality: 0.9 }, 0.03)).toBeUndefined();
  });

  it('chooses the weight that saves most within the loss, and a smaller one when it has to be sure', () => {
    const noisy = rows.map((easy, i) => [(easy ? 0.9 : 0.3) + (i % 10 === 1 ? 0.5 : 0), 0.9]);
    const mean = chooseCostWeight(noisy, table, { loss: 0.07, errors: 0 }) as number;
    const sure = chooseCostWeight(noisy, table, { loss: 0.07, errors: 1.645 }) as number;
    const at = (weight: number) => operatingPoint(noisy, table, 1, weight);
    expect(at(mean).saved).toBeGreaterThan(at(sure).saved);
    expect(at(mean).loss).toBeLessThanOrEqual(0.07);
    expect(chooseCostWeight(noisy, table, { loss: -1, errors: 0 })).toBeUndefined();
  });

  it('gives up quality first where the money is, when one reference cost stands for all rows', () => {
    const uneven: QualityTable = {
      models: ['weak', 'strong'],
      qualities: [
        [0.8, 0.9],
        [0.8, 0.9],
      ],
      costs: [
        [1, 10],
        [10, 100],
      ],
    };
    expect(meanDearestCost(uneven)).toBe(55);
    expect(chooseByUtility(uneven.qualities, uneven, 0.2, 55)).toEqual([1, 0]);
    expect(chooseByUtility(uneven.qualities, uneven, 0.2)).toEqual([0, 0]);
  });
});

it('a gap is recovered on average to 1/2 by calls in any order, and to nearly 1 by those that need it first', () => {
  const weak = rows.map((easy) => (easy ? 1 : 0));
  const strong = rows.map(() => 1);
  expect(
    averageGapRecovered(
      strongShareCurve(
        rows.map(() => 0),
        weak,
        strong,
      ),
    ),
  ).toBeCloseTo(0.5, 1);
  expect(
    averageGapRecovered(
      strongShareCurve(
        rows.map((easy) => (easy ? 0 : 1)),
        weak,
        strong,
      ),
    ),
  ).toBeCloseTo(0.75, 2);
});

it('cross-fitting predicts no row by a fit that has seen its fold', () => {
  const folds = [0, 1, 2, 0, 1, 2];
  const predicted = crossFitted(
    [0, 1, 2, 3, 4, 5],
    (row) => folds[row] as number,
    (train, test) => {
      for (const row of test) expect(train.map((one) => folds[one])).not.toContain(folds[row]);
      return test.map((row) => [row]);
    },
  );
  expect(predicted).toEqual([[0], [1], [2], [3], [4], [5]]);
});
