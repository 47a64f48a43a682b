/** A square matrix, row by row. */
export type Matrix = number[][];

/** The identity times `scale`. */
export function scaledIdentity(size: number, scale: number): Matrix {
  return Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => (i === j ? scale : 0)));
}

export function multiply(matrix: Matrix, vector: readonly number[]): number[] {
  return matrix.map((row) => dot(row, vector));
}

export function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/**
 * Lower triangle L with A = L Lᵀ of a symmetric positive definite matrix (Cholesky, published 1924).
 *
 * @throws RangeError when the matrix is not positive definite.
 */
export function cholesky(matrix: Matrix): Matrix {
  const size = matrix.length;
  const lower = scaledIdentity(size, 0);
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = (matrix[i] as number[])[j] as number;
      for (let k = 0; k < j; k += 1)
        sum -= ((lower[i] as number[])[k] as number) * ((lower[j] as number[])[k] as number);
      if (i !== j) (lower[i] as number[])[j] = sum / ((lower[j] as number[])[j] as number);
      else if (sum > 0) (lower[i] as number[])[i] = Math.sqrt(sum);
      else throw new RangeError(`the matrix is not positive definite (pivot ${i} is ${sum})`);
    }
  }
  return lower;
}

/** Solves A x = b by the Cholesky factor of A. */
export function solveWith(lower: Matrix, right: readonly number[]): number[] {
  const size = lower.length;
  const y = new Array<number>(size).fill(0);
  for (let i = 0; i < size; i += 1) {
    let sum = right[i] as number;
    for (let k = 0; k < i; k += 1) sum -= ((lower[i] as number[])[k] as number) * (y[k] as number);
    y[i] = sum / ((lower[i] as number[])[i] as number);
  }
  for (let i = size - 1; i >= 0; i -= 1) {
    let sum = y[i] as number;
    for (let k = i + 1; k < size; k += 1) sum -= ((lower[k] as number[])[i] as number) * (y[k] as number);
    y[i] = sum / ((lower[i] as number[])[i] as number);
  }
  return y;
}

/** The inverse of a symmetric positive definite matrix, exactly symmetric. */
export function inverse(matrix: Matrix): Matrix {
  const lower = cholesky(matrix);
  const size = matrix.length;
  const result = Array.from({ length: size }, (_, i) =>
    solveWith(
      lower,
      Array.from({ length: size }, (_, j) => (i === j ? 1 : 0)),
    ),
  );
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j < i; j += 1) {
      const mean = (((result[i] as number[])[j] as number) + ((result[j] as number[])[i] as number)) / 2;
      (result[i] as number[])[j] = mean;
      (result[j] as number[])[i] = mean;
    }
  }
  return result;
}

/** Largest element of |A B - I|: how far B is from the inverse of A. */
export function inverseResidual(matrix: Matrix, inverted: Matrix): number {
  let worst = 0;
  for (let i = 0; i < matrix.length; i += 1) {
    for (let j = 0; j < matrix.length; j += 1) {
      let sum = i === j ? -1 : 0;
      for (let k = 0; k < matrix.length; k += 1)
        sum += ((matrix[i] as number[])[k] as number) * ((inverted[k] as number[])[j] as number);
      worst = Math.max(worst, Math.abs(sum));
    }
  }
  return worst;
}
