import { cpuMicroseconds, pinned, runBenchScript } from './bench-process.ts';
import { medianRatio, printFigures, printTarget } from './bench-report.ts';
import type { BenchTargets, Target } from './bench-targets.ts';

const CONNECTIONS = 64;
/** A target is warm after this many requests, or this many seconds on a machine that is too slow for them. */
const WARM_UP_REQUESTS = 20_000;
const WARM_UP_S = 20;

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

/** Whole answers, closed loop: CPU per request, requests per second, latency. */
export async function benchWholeAnswers(bench: BenchTargets, rounds: number, seconds: number): Promise<void> {
  for (const target of bench.targets) await warmUp(bench, target);
  const results = new Map(bench.targets.map((target) => [target.name, [] as Round[]]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const target of bench.targets) results.get(target.name)?.push(await measure(bench, target, seconds));
  }
  printFigures(
    `Whole answers, ${CONNECTIONS} connections, ${rounds} interleaved rounds of ${seconds} s; median / min / max. ${pinned ? 'The target has a core for itself.' : 'Not pinned to a core.'}`,
    ['CPU µs / request', 'requests / s', 'p50 ms', 'p99 ms', 'errors'],
    [1, 0, 2, 2, 0],
    [...results].map(([name, all]) => ({
      name,
      columns: [
        all.map((r) => r.cpuUs),
        all.map((r) => r.perSecond),
        all.map((r) => r.p50Ms),
        all.map((r) => r.p99Ms),
        all.map((r) => r.errors),
      ],
    })),
  );
  const cpu = (name: Target['name']) => results.get(name)?.map((round) => round.cpuUs);
  printTarget('CPU per request ÷ nginx', medianRatio(cpu('gateway'), cpu('nginx')), 4.5, 3.5);
  console.log(`  CPU per request ÷ bare proxy: ${medianRatio(cpu('gateway'), cpu('bare')).toFixed(2)}`);
}

async function warmUp(bench: BenchTargets, target: Target): Promise<void> {
  const startedAt = performance.now();
  let requests = 0;
  while (requests < WARM_UP_REQUESTS && performance.now() - startedAt < WARM_UP_S * 1000)
    requests += 2 * (await measure(bench, target, 2)).perSecond;
}

async function measure({ root, key }: BenchTargets, target: Target, seconds: number): Promise<Round> {
  const before = cpuMicroseconds(target.process.pid);
  const output = await runBenchScript(root, 'tools/src/bench/load-client.ts', 'rest', {
    PORT: String(target.port),
    KEY: key,
    CONNECTIONS: String(CONNECTIONS),
    SECONDS: String(seconds),
  });
  const after = cpuMicroseconds(target.process.pid);
  const client = JSON.parse(output) as {
    requests: number;
    errors: number;
    seconds: number;
    p50Ms: number;
    p99Ms: number;
  };
  return {
    perSecond: client.requests / client.seconds,
    cpuUs: before === undefined || after === undefined ? NaN : (after - before) / client.requests,
    p50Ms: client.p50Ms,
    p99Ms: client.p99Ms,
    errors: client.errors,
  };
}
