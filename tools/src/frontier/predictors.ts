import { createTextScorer, fitScale, fitTextScorer, RidgeArm, standardise } from '@sluice/routing';
import type { RoutingTable } from './routing-tables.ts';

/** Learns from some rows of a table and predicts the quality of every model for others. */
export type Predictor = (table: RoutingTable, train: readonly number[], test: readonly number[]) => number[][];

/** Ridge regression of each model on the table's sixteen features. */
export const linear: Predictor = ({ features, qualities, models }, train, test) => {
  const scale = fitScale(train.map((row) => features[row] as number[]));
  const arms = models.map(() => RidgeArm.untrained(scale.mean.length + 1, 1));
  for (const row of train) {
    const x = standardise(features[row] as number[], scale);
    arms.forEach((arm, k) => arm.update(x, qualities[row]?.[k] as number));
  }
  return test.map((row) => {
    const x = standardise(features[row] as number[], scale);
    return arms.map((arm) => arm.predict(x).mean);
  });
};

/**
 * The scorer that a policy's snapshot can carry, quantised as it is published. Rows whose prompt is withheld are
 * predicted by `linear`.
 */
export function scorer(options: Parameters<typeof fitTextScorer>[1] = {}): Predictor {
  return (table, train, test) => {
    const known = train.filter((row) => table.prompts[row] !== undefined);
    const fitted = createTextScorer(
      fitTextScorer(
        {
          models: table.models,
          prompts: known.map((row) => table.prompts[row] as string),
          qualities: known.map((row) => table.qualities[row] as number[]),
        },
        options,
      ),
    );
    const without = test.some((row) => table.prompts[row] === undefined) ? linear(table, train, test) : [];
    return test.map((row, i) => {
      const prompt = table.prompts[row];
      return prompt === undefined ? (without[i] as number[]) : fitted.score(prompt);
    });
  };
}

/** Mean of the predictions of two. */
export function mean(one: Predictor, other: Predictor): Predictor {
  return (table, train, test) => {
    const second = other(table, train, test);
    return one(table, train, test).map((row, i) => row.map((value, k) => (value + (second[i]?.[k] as number)) / 2));
  };
}

/** Of two models, predicts only how well the weak one does, and takes the strong one's mean for all. */
export function onlyWeakSuccess(predictor: Predictor): Predictor {
  return (table, train, test) => {
    const strong = train.reduce((sum, row) => sum + (table.qualities[row]?.[1] as number), 0) / train.length;
    return predictor(table, train, test).map(([weak]) => [weak as number, strong]);
  };
}
