import {
  bestModel,
  chooseCostWeight,
  crossFitted,
  meanDearestCost,
  operatingPoint,
  reportFrontier,
  rowsOf,
  type FrontierReport,
  type OperatingPoint,
} from '@sluice/routing';
import type { Predictor } from './predictors.ts';
import type { RoutingTable } from './routing-tables.ts';

/** Loss of mean quality that is accepted. */
export const LOSS = 0.027;
/** Everything is fitted and chosen on these. */
const TRAINING_FOLDS = 6;
export const TEST_FOLDS: readonly number[] = [6, 7];
/** Standard errors of a choice that is to be sure: one side, 95 %. */
const SURE = 1.645;

/** A weight of cost that was chosen in validation, and what it does there and in the test. */
export interface ChosenPoint {
  readonly validation: OperatingPoint;
  readonly test: OperatingPoint;
}

export interface TableFrontier {
  readonly name: string;
  readonly trainRows: number;
  /** By cross-validation inside the training folds: what every choice was made by. */
  readonly validation: FrontierReport;
  /** On the test folds, after a fit on all training folds. */
  readonly test: FrontierReport;
  /** By a mean loss of at most `LOSS` in validation. A new sample of rows has more about as often as less. */
  readonly chosen: ChosenPoint | undefined;
  /**
   * By a loss that a new sample of as many rows as the test has keeps at 95 %: its own error is counted beside that
   * of the validation.
   */
  readonly promised: ChosenPoint | undefined;
}

/**
 * Fits on folds 0-5 and reports on the test folds. The weight of cost is the one that saves most at the accepted
 * loss in cross-validation inside 0-5; the test folds take part in nothing but the report.
 *
 * @throws RangeError when a test fold is one of those that are fitted on, or holds no row.
 */
export function tableFrontier(
  table: RoutingTable,
  predictor: Predictor,
  testFolds: readonly number[] = TEST_FOLDS,
): TableFrontier {
  const rows = table.folds.map((_, row) => row);
  const train = rows.filter((row) => (table.folds[row] as number) < TRAINING_FOLDS);
  const test = rows.filter((row) => testFolds.includes(table.folds[row] as number));
  if (testFolds.some((fold) => fold < TRAINING_FOLDS))
    throw new RangeError(`test folds must not be among 0-${TRAINING_FOLDS - 1}, on which everything is fitted`);
  if (test.length === 0) throw new RangeError(`${table.name} has no row in the folds ${testFolds.join(', ')}`);
  const trainTable = rowsOf(table, train);
  const testTable = rowsOf(table, test);
  const referenceCost = meanDearestCost(trainTable);
  const against = bestModel(trainTable);
  const validated = crossFitted(
    train,
    (row) => table.folds[row] as number,
    (from, to) => predictor(table, from, to),
  );
  const predicted = predictor(table, train, test);
  const chosenBy = (errors: number): ChosenPoint | undefined => {
    const costWeight = chooseCostWeight(validated, trainTable, { loss: LOSS, errors, referenceCost });
    if (costWeight === undefined) return undefined;
    return {
      validation: operatingPoint(validated, trainTable, against, costWeight, referenceCost),
      test: operatingPoint(predicted, testTable, against, costWeight, referenceCost),
    };
  };
  return {
    name: table.name,
    trainRows: train.length,
    validation: reportFrontier(validated, trainTable, { loss: LOSS, referenceCost }),
    test: reportFrontier(predicted, testTable, { loss: LOSS, referenceCost }),
    chosen: chosenBy(0),
    promised: chosenBy(SURE * Math.sqrt(1 + train.length / test.length)),
  };
}
