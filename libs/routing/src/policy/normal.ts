const SQRT_2 = Math.SQRT2;
const SQRT_PI = Math.sqrt(Math.PI);

/** Density of the normal distribution. */
export function normalDensity(z: number, mean = 0, sd = 1): number {
  const t = (z - mean) / sd;
  return Math.exp((-t * t) / 2) / (sd * Math.sqrt(2 * Math.PI));
}

/** Distribution function of the standard normal, absolute error below 1e-14. */
export function normalCdf(z: number): number {
  return erfc(-z / SQRT_2) / 2;
}

/**
 * Complementary error function: the Taylor series up to 3, Lentz's continued fraction from there on (Abramowitz and
 * Stegun 7.1.6, 7.1.14).
 */
function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  if (x > 27) return 0;
  if (x < 3) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n += 1) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / SQRT_PI) * Math.exp(-x * x) * sum;
  }
  let fraction = 0;
  for (let n = 60; n >= 1; n -= 1) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / (SQRT_PI * (x + fraction));
}
