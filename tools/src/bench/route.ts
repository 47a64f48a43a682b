import { freePort } from '@sluice/testing';
import { cpuMicroseconds, runBenchScript, startBenchProcess } from './bench-process.ts';
import { median, printFigures } from './bench-report.ts';
import type { BenchTargets } from './bench-targets.ts';

const TOKEN = 'token-for-the-measurement';
const PROMPT =
  'Explain step by step why the sum of two odd numbers is even, then give three examples with numbers above 100.';
/** One at a time tells the latency, sixteen at once how much one core can do. */
const CONNECTIONS = [1, 16] as const;

/**
 * `POST /route` over HTTP at nine models and sixteen features, the whole explanation included, the router on one
 * core.
 */
export async function benchRoute({ root }: BenchTargets, rounds: number, seconds: number): Promise<void> {
  const port = await freePort();
  const database = process.env['ROUTE_DATABASE_URL'];
  const router = await startBenchProcess(
    root,
    'apps/router/src/bench/serve-route.ts',
    'target',
    {
      PORT: String(port),
      ROUTE_TOKEN: TOKEN,
      NODE_ENV: 'production',
      ...(database === undefined ? {} : { ROUTE_DATABASE_URL: database }),
    },
    { kind: 'http', url: `http://127.0.0.1:${port}/health` },
  );
  try {
    for (const explain of ['full', 'none'] as const) {
      const body = JSON.stringify({
        workspace: 'acme-prod',
        feature: 'chat',
        messages: [{ role: 'user', content: PROMPT }],
        explain,
      });
      const figures = new Map<number, { p50: number[]; p99: number[]; perSecond: number[]; cpu: number[] }>(
        CONNECTIONS.map((n) => [n, { p50: [], p99: [], perSecond: [], cpu: [] }]),
      );
      for (let round = 0; round < rounds; round += 1) {
        for (const [connections, one] of figures) {
          const before = cpuMicroseconds(router.pid) ?? NaN;
          const output = await runBenchScript(root, 'tools/src/bench/load-client.ts', 'rest', {
            PORT: String(port),
            KEY: TOKEN,
            CONNECTIONS: String(connections),
            SECONDS: String(seconds),
            TARGET_PATH: '/route',
            BODY: body,
          });
          const result = JSON.parse(output) as {
            requests: number;
            errors: number;
            seconds: number;
            p50Ms: number;
            p99Ms: number;
          };
          if (result.errors > 0) throw new Error(`${result.errors} of ${result.requests} requests failed`);
          one.cpu.push(((cpuMicroseconds(router.pid) ?? NaN) - before) / result.requests);
          one.p50.push(result.p50Ms);
          one.p99.push(result.p99Ms);
          one.perSecond.push(result.requests / result.seconds);
        }
      }
      printFigures(
        `POST /route, 9 models, 16 features, explain: ${explain}, log in ${database === undefined ? 'memory' : 'PostgreSQL'}`,
        ['p50 ms', 'p99 ms', 'requests/s', 'CPU µs/request'],
        [3, 3, 0, 0],
        [...figures].map(([n, { p50, p99, perSecond, cpu }]) => ({
          name: `${n} at once`,
          columns: [p50, p99, perSecond, cpu],
        })),
      );
      if (explain !== 'full') continue;
      const [alone, together] = CONNECTIONS.map((n) => figures.get(n));
      console.log(
        `  p50 alone: ${median(alone?.p50 ?? []).toFixed(3)} ms (target 1); on one core: ${median(together?.perSecond ?? []).toFixed(0)}/s (target 4000)`,
      );
    }
  } finally {
    await router.stop();
  }
}
