/** Reproducible uniform draws in [0, 1) (Mulberry32 by T. Ettinger, public domain algorithm). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A standard normal draw (Box and Muller 1958). */
export function normalDraw(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A Beta draw with mean m and standard deviation about sd, as a ratio of Gamma draws (Marsaglia and Tsang 2000). */
export function betaDraw(random: () => number, mean: number, sd: number): number {
  const total = Math.max((mean * (1 - mean)) / (sd * sd) - 1, 1e-3);
  const a = gammaDraw(random, mean * total);
  const b = gammaDraw(random, (1 - mean) * total);
  return a / (a + b);
}

function gammaDraw(random: () => number, shape: number): number {
  if (shape < 1) return gammaDraw(random, shape + 1) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const z = normalDraw(random);
    const v = (1 + c * z) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * z * z + d - d * v + d * Math.log(v)) return d * v;
  }
}
