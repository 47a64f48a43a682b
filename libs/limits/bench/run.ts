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
  console.log(
    `${name.padEnd(58)} min ${ns(rounds[0])}  median ${ns(rounds[ROUNDS >> 1])}  max ${ns(rounds.at(-1))} ns/op  (${ROUNDS} rounds)`,
  );
}

/**
 * Prints the bytes of heap that one operation allocates: the least of several rounds and their median. The first
 * rounds of a function are run by slower code that boxes every double; what counts is where it settles.
 */
export function bytesPerOperation(name: string, operations: number, work: () => void): void {
  const collect = globalThis.gc;
  if (collect === undefined) return;
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    work();
    rounds.push(Math.max(0, (process.memoryUsage().heapUsed - before) / operations));
  }
  rounds.sort((x, y) => x - y);
  console.log(
    `${name.padEnd(58)} min ${(rounds[0] ?? NaN).toFixed(1)}, median ${(rounds[ROUNDS >> 1] ?? NaN).toFixed(1)} bytes/op`,
  );
}

/** Runs `work` three times after a warm-up and prints this process's CPU time per operation, user and system. */
export async function cpuPerOperation(name: string, operations: number, work: () => Promise<void>): Promise<void> {
  await work();
  const rounds: number[] = [];
  for (let round = 0; round < 3; round++) {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    rounds.push((user + system) / operations);
  }
  rounds.sort((a, b) => a - b);
  console.log(
    `${name.padEnd(58)} median ${(rounds[1] ?? NaN).toFixed(2)} µs/op  (min ${(rounds[0] ?? NaN).toFixed(2)}, max ${(rounds[2] ?? NaN).toFixed(2)}, 3 rounds)`,
  );
}
