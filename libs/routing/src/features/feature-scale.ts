/** Mean and standard deviation of each feature, of the data that a policy was fitted on. */
export interface FeatureScale {
  readonly mean: readonly number[];
  readonly sd: readonly number[];
}

/**
 * The context of a decision: a bias of 1, then each feature standardised and clipped to ±3.
 *
 * @throws RangeError naming the feature that is not a finite number, or when their count is another.
 */
export function standardise(features: readonly number[], { mean, sd }: FeatureScale): number[] {
  if (features.length !== mean.length)
    throw new RangeError(`there are ${features.length} features, the policy was fitted on ${mean.length}`);
  const x = [1];
  features.forEach((value, i) => {
    if (!Number.isFinite(value)) throw new RangeError(`feature ${i} is ${value}`);
    const spread = sd[i] as number;
    x.push(spread <= 0 ? 0 : Math.max(-3, Math.min(3, (value - (mean[i] as number)) / spread)));
  });
  return x;
}

/** Scale of many rows of features. @throws RangeError without rows. */
export function fitScale(rows: readonly (readonly number[])[]): FeatureScale {
  const first = rows[0];
  if (first === undefined) throw new RangeError('there is nothing to fit a scale on');
  const mean = first.map((_, i) => rows.reduce((sum, row) => sum + (row[i] as number), 0) / rows.length);
  const sd = first.map((_, i) =>
    Math.sqrt(rows.reduce((sum, row) => sum + ((row[i] as number) - (mean[i] as number)) ** 2, 0) / rows.length),
  );
  return { mean, sd };
}
