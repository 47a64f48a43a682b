/**
 * A row: some dense features, and sparse ones as `textGrams` codes them (twice the index, plus 1 for a negative
 * sign).
 */
export interface SparseRow {
  readonly dense: readonly number[];
  readonly codes: Int32Array;
  /** What each sparse feature counts, in size. */
  readonly scale: number;
}

/** Relative size of the residual at which the iteration ends, and the number of steps at which it does anyway. */
const CLOSE = 1e-3;
const STEPS = 25;

/**
 * Ridge regression of several outputs on many sparse features at once, by conjugate gradients (Hestenes and Stiefel
 * 1952) on the normal equations: a few passes over the rows and no matrix of size d × d.
 *
 * @param targets n by K.
 * @param sparse number of sparse features.
 * @returns coefficients, (dense + sparse) by K, row by row: those of the dense features come first.
 * @throws RangeError without rows or with a penalty that is not above 0.
 */
export function fitSparseRidge(
  rows: readonly SparseRow[],
  targets: readonly (readonly number[])[],
  { sparse, penalty }: { readonly sparse: number; readonly penalty: number },
): Float64Array {
  const dense = rows[0]?.dense.length;
  const outputs = targets[0]?.length;
  if (dense === undefined || outputs === undefined) throw new RangeError('there are no rows to fit');
  if (!(penalty > 0)) throw new RangeError(`the penalty must be above 0, not ${penalty}`);
  const size = (dense + sparse) * outputs;
  const weights = new Float64Array(size);
  const residual = new Float64Array(size);
  rows.forEach((row, i) => scatterRow(row, targets[i] as readonly number[], residual, dense, outputs));
  const direction = residual.slice();
  let norms = squaredNorms(residual, outputs);
  const stop = norms.map((norm) => norm * CLOSE * CLOSE);
  const product = new Float64Array(size);
  const values = new Array<number>(outputs).fill(0);
  for (let step = 0; step < STEPS && norms.some((norm, k) => norm > (stop[k] as number)); step += 1) {
    for (let i = 0; i < size; i += 1) product[i] = penalty * (direction[i] as number);
    for (const row of rows) {
      rowTimes(row, direction, dense, values);
      scatterRow(row, values, product, dense, outputs);
    }
    const curvature = new Array<number>(outputs).fill(0);
    for (let i = 0, k = 0; i < size; i += 1, k = k + 1 === outputs ? 0 : k + 1)
      curvature[k] = (curvature[k] as number) + (direction[i] as number) * (product[i] as number);
    const length = norms.map((norm, k) => (norm === 0 ? 0 : norm / (curvature[k] as number)));
    for (let i = 0, k = 0; i < size; i += 1, k = k + 1 === outputs ? 0 : k + 1) {
      weights[i] = (weights[i] as number) + (length[k] as number) * (direction[i] as number);
      residual[i] = (residual[i] as number) - (length[k] as number) * (product[i] as number);
    }
    const next = squaredNorms(residual, outputs);
    const turn = next.map((norm, k) => (norms[k] === 0 ? 0 : norm / (norms[k] as number)));
    for (let i = 0, k = 0; i < size; i += 1, k = k + 1 === outputs ? 0 : k + 1)
      direction[i] = (residual[i] as number) + (turn[k] as number) * (direction[i] as number);
    norms = next;
  }
  return weights;
}

/** The K values of a row under such coefficients, into `into`. */
export function rowTimes(
  { dense, codes, scale }: SparseRow,
  weights: ArrayLike<number>,
  denseCount: number,
  into: number[],
): void {
  const outputs = into.length;
  into.fill(0);
  for (const code of codes) {
    const at = (denseCount + (code >> 1)) * outputs;
    if ((code & 1) === 0)
      for (let k = 0; k < outputs; k += 1) into[k] = (into[k] as number) + (weights[at + k] as number);
    else for (let k = 0; k < outputs; k += 1) into[k] = (into[k] as number) - (weights[at + k] as number);
  }
  for (let k = 0; k < outputs; k += 1) into[k] = (into[k] as number) * scale;
  for (let j = 0; j < denseCount; j += 1)
    for (let k = 0; k < outputs; k += 1)
      into[k] = (into[k] as number) + (dense[j] as number) * (weights[j * outputs + k] as number);
}

/** Adds the row, times each of `values`, to `sums`. */
function scatterRow(
  { dense, codes, scale }: SparseRow,
  values: readonly number[],
  sums: Float64Array,
  denseCount: number,
  outputs: number,
): void {
  for (const code of codes) {
    const at = (denseCount + (code >> 1)) * outputs;
    const signed = (code & 1) === 0 ? scale : -scale;
    for (let k = 0; k < outputs; k += 1) sums[at + k] = (sums[at + k] as number) + signed * (values[k] as number);
  }
  for (let j = 0; j < denseCount; j += 1)
    for (let k = 0; k < outputs; k += 1)
      sums[j * outputs + k] = (sums[j * outputs + k] as number) + (dense[j] as number) * (values[k] as number);
}

function squaredNorms(values: Float64Array, outputs: number): number[] {
  const norms = new Array<number>(outputs).fill(0);
  for (let i = 0, k = 0; i < values.length; i += 1, k = k + 1 === outputs ? 0 : k + 1)
    norms[k] = (norms[k] as number) + (values[i] as number) ** 2;
  return norms;
}
