import { performance } from 'node:perf_hooks';

const ROUNDS = 9;
const WARM_UP = 2;

/** Runs `work` (which does `operations` operations) several times and prints nanoseconds per operation. */
export function bench(name: string, operations: number, work: () => void): void {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const start = performance.now();
    work();
    if (round >= WARM_UP) rounds.push(((performance.now() - start) * 1e6) / operations);
  }
  rounds.sort((a, b) => a - b);
  const ns = (value: number | undefined): string => (value ?? NaN).toFixed(0).padStart(6);
  console.log(`${name.padEnd(58)} min ${ns(rounds[0])}  median ${ns(rounds[ROUNDS >> 1])}  max ${ns(rounds.at(-1))} ns/op  (${ROUNDS} rounds)`);
}
