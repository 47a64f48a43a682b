/**
 * Decisions that were logged with the whole distribution they were drawn from, and what came of them. Rows are
 * decisions.
 */
export interface LoggedData {
  /** Features, n by d, without a bias. */
  readonly contexts: readonly (readonly number[])[];
  /** n by K, each row sums to 1; 0 for an arm that was not eligible. */
  readonly loggedProbabilities: readonly (readonly number[])[];
  /** The chosen arm of each row. */
  readonly actions: readonly number[];
  /** Rewards in [0, 1]. */
  readonly rewards: readonly number[];
  /** Only the chosen arm's probability was logged and the others' are made up: arms are then not checked one by one. */
  readonly chosenOnly?: boolean;
}

/** Raised for a log that no estimator can be asked about. */
export class InvalidLogError extends Error {
  override readonly name = 'InvalidLogError';
}

/**
 * @param targetProbabilities what the policy under evaluation would have done, n by K.
 * @throws InvalidLogError naming the first row that is wrong.
 */
export function assertLoggedData(data: LoggedData, targetProbabilities: readonly (readonly number[])[]): void {
  const { contexts, loggedProbabilities, actions, rewards } = data;
  const rows = actions.length;
  if (rows === 0) throw new InvalidLogError('the log is empty');
  for (const [name, part] of Object.entries({ contexts, loggedProbabilities, rewards, targetProbabilities })) {
    if (part.length !== rows) throw new InvalidLogError(`${name} has ${part.length} rows, actions has ${rows}`);
  }
  for (let i = 0; i < rows; i += 1) {
    const reward = rewards[i] as number;
    if (!(reward >= 0 && reward <= 1)) throw new InvalidLogError(`row ${i}: the reward ${reward} lies outside [0, 1]`);
    const logged = loggedProbabilities[i] as readonly number[];
    const p = logged[actions[i] as number];
    if (p === undefined || !(p > 0 && p <= 1))
      throw new InvalidLogError(`row ${i}: the chosen arm ${actions[i]} was logged with probability ${p}`);
    for (const [name, distribution] of [
      ['logged', logged],
      ['target', targetProbabilities[i] as readonly number[]],
    ] as const) {
      const sum = distribution.reduce((total, value) => total + value, 0);
      if (!distribution.every((value) => value >= 0) || Math.abs(sum - 1) > 1e-6)
        throw new InvalidLogError(`row ${i}: the ${name} probabilities sum to ${sum}`);
    }
  }
}

/** Importance weight of each row: what the target does with the chosen arm over what was done. */
export function importanceWeights(
  { loggedProbabilities, actions }: LoggedData,
  targetProbabilities: readonly (readonly number[])[],
): number[] {
  return actions.map(
    (action, i) =>
      ((targetProbabilities[i] as readonly number[])[action] as number) /
      ((loggedProbabilities[i] as readonly number[])[action] as number),
  );
}
