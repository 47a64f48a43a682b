import { cholesky, dot, scaledIdentity, solveWith } from '../linear/cholesky.ts';
import type { LoggedData } from './logged-data.ts';

/**
 * Ridge coefficients of the reward of each arm on [1, x]; the penalty falls on all of them. Zero where an arm has
 * no row.
 */
export function fitArms(
  { contexts, actions, rewards }: LoggedData,
  arms: number,
  lambda: number,
  rows: readonly number[],
): number[][] {
  const size = (contexts[0]?.length ?? 0) + 1;
  return Array.from({ length: arms }, (_, arm) => {
    const a = scaledIdentity(size, lambda);
    const b = new Array<number>(size).fill(0);
    for (const row of rows) {
      if (actions[row] !== arm) continue;
      const z = withBias(contexts[row] as readonly number[]);
      for (let i = 0; i < size; i += 1) {
        for (let j = 0; j < size; j += 1)
          (a[i] as number[])[j] = ((a[i] as number[])[j] as number) + (z[i] as number) * (z[j] as number);
        b[i] = (b[i] as number) + (z[i] as number) * (rewards[row] as number);
      }
    }
    return solveWith(cholesky(a), b);
  });
}

/** Predicted reward of every arm for every row, n by K. */
export function predictAll(
  theta: readonly (readonly number[])[],
  contexts: readonly (readonly number[])[],
): number[][] {
  return contexts.map((x) => theta.map((coefficients) => dot(withBias(x), coefficients)));
}

/**
 * Predictions for each row from arms that were fitted on the other folds, so that no row predicts itself.
 *
 * @param foldOf which fold a row belongs to, 0 to `folds` - 1.
 */
export function crossFit(
  data: LoggedData,
  arms: number,
  lambda: number,
  folds: number,
  foldOf: (row: number) => number,
): number[][] {
  const rows = data.actions.map((_, row) => row);
  const theta = Array.from({ length: folds }, (_, fold) =>
    fitArms(
      data,
      arms,
      lambda,
      rows.filter((row) => foldOf(row) !== fold),
    ),
  );
  return data.contexts.map((x, row) => predictAll(theta[foldOf(row)] as number[][], [x])[0] as number[]);
}

const withBias = (x: readonly number[]): number[] => [1, ...x];
