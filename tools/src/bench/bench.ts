import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigSnapshot, DEFAULT_CELL_ID, portsFrom } from '@sluice/contracts';
import { freePortBase } from '@sluice/testing';
import { percentile } from '../load/distribution.ts';
import { randomBase62 } from '../stack/secrets.ts';
import type { StackSettings } from '../stack/settings.ts';
import { table } from '../stack/welcome.ts';
import { benchSnapshot } from './bench-snapshot.ts';
import { cpuMicroseconds, pinned, runBenchScript, startBenchProcess, type BenchProcess } from './bench-process.ts';

const CONNECTIONS = 64;
const WARM_UP_S = 3;

interface Target {
  readonly name: string;
  readonly port: number;
  readonly process: BenchProcess;
}

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

/** Measures the gateway beside a bare proxy, in turns; `BENCH_ROUNDS` and `BENCH_SECONDS` change the length, `BENCH_PROFILE=<folder>` keeps a CPU profile of the gateway. */
export async function bench({ root, env }: StackSettings): Promise<number> {
  const rounds = Number(env['BENCH_ROUNDS'] ?? '3');
  const seconds = Number(env['BENCH_SECONDS'] ?? '6');
  const base = await freePortBase();
  const ports = portsFrom(base);
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const keyId = randomBase62(12);
  const key = `sk-sluice-${keyId}-${randomBase62(32)}`;
  const started: BenchProcess[] = [];
  const start = async (...args: Parameters<typeof startBenchProcess>): Promise<BenchProcess> => {
    const process = await startBenchProcess(...args);
    started.push(process);
    return process;
  };
  const tcp = (port: number) => ({ kind: 'tcp', host: '127.0.0.1', port }) as const;
  try {
    const upstream = `http://127.0.0.1:${ports.simPrimary}`;
    await start(root, 'tools/src/bench/fast-upstream.ts', 'rest', { PORT: String(ports.simPrimary) }, tcp(ports.simPrimary));
    const bare = await start(root, 'tools/src/bench/bare-proxy.ts', 'target', { PORT: String(ports.edge), UPSTREAM: upstream }, tcp(ports.edge));

    mkdirSync(join(dataDir, 'gateway'), { recursive: true });
    const snapshot = ConfigSnapshot.parse(benchSnapshot(upstream, keyId, createHash('sha256').update(key).digest('hex')));
    writeFileSync(join(dataDir, 'gateway', 'snapshot.json'), JSON.stringify({ savedAtMs: Date.now(), snapshot }), { mode: 0o600 });
    const gatewayEnv = {
      NODE_ENV: 'production', SLUICE_PORT_BASE: String(base), HOST: '127.0.0.1', SLUICE_DATA_DIR: dataDir, SLUICE_GATEWAY_ID: 'gw-1',
      SLUICE_CELL_ID: DEFAULT_CELL_ID, SLUICE_OUTBOX_MAX_MB: '16384', LOG_LEVEL: 'info', SLUICE_TOKEN_GATEWAY: randomBase62(40),
      SLUICE_CONTROL_PLANE_URL: `http://127.0.0.1:${ports.controlPlane}`, AWS_ENDPOINT_URL: `http://127.0.0.1:${ports.spine}`,
      AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local',
      ...(env['BENCH_PROFILE'] !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${env['BENCH_PROFILE']}` }),
    };
    const ready = { kind: 'http', url: `http://127.0.0.1:${ports.gatewayAdmin}/ready` } as const;
    const gateway = await start(root, 'apps/gateway/src/main.ts', 'target', gatewayEnv, ready);

    const targets: Target[] = [
      { name: 'bare node:http + undici', port: ports.edge, process: bare },
      { name: 'gateway', port: ports.gateway, process: gateway },
    ];
    for (const target of targets) await measure(root, target, key, WARM_UP_S);
    const results = new Map(targets.map((target) => [target.name, [] as Round[]]));
    for (let round = 1; round <= rounds; round += 1) {
      console.log(`round ${round} of ${rounds}`);
      for (const target of targets) results.get(target.name)?.push(await measure(root, target, key, seconds));
    }
    print(results, rounds, seconds);
  } finally {
    for (const process of started.toReversed()) await process.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  await benchLimits(root);
  return 0;
}

async function measure(root: string, target: Target, key: string, seconds: number): Promise<Round> {
  const before = cpuMicroseconds(target.process.pid);
  const output = await runBenchScript(root, 'tools/src/bench/load-client.ts', 'rest', {
    PORT: String(target.port), KEY: key, CONNECTIONS: String(CONNECTIONS), SECONDS: String(seconds),
  });
  const after = cpuMicroseconds(target.process.pid);
  const client = JSON.parse(output) as { requests: number; errors: number; seconds: number; p50Ms: number; p99Ms: number };
  return {
    perSecond: client.requests / client.seconds,
    cpuUs: before === undefined || after === undefined ? NaN : (after - before) / client.requests,
    p50Ms: client.p50Ms,
    p99Ms: client.p99Ms,
    errors: client.errors,
  };
}

function print(results: ReadonlyMap<string, readonly Round[]>, rounds: number, seconds: number): void {
  const spread = (values: readonly number[], digits: number) =>
    [percentile(values, 50) ?? NaN, Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits)).join(' / ');
  const rows = [...results].map(([name, all]) => [
    name,
    spread(all.map((round) => round.cpuUs), 1),
    spread(all.map((round) => round.perSecond), 0),
    spread(all.map((round) => round.p50Ms), 2),
    spread(all.map((round) => round.p99Ms), 2),
    String(all.reduce((sum, round) => sum + round.errors, 0)),
  ]);
  console.log(`\nWhole answers, ${CONNECTIONS} connections, ${rounds} interleaved rounds of ${seconds} s; median / min / max. ${pinned ? 'The target has a core for itself.' : 'Not pinned to a core.'}`);
  console.log('On in the gateway: every check, metering with the outbox on disk, one log line per request. Not reachable: SNS/SQS, control plane, router.');
  console.log(table([['target', 'CPU µs / request', 'requests / s', 'p50 ms', 'p99 ms', 'errors'], ...rows]).join('\n'));
  const [bare, gateway] = [...results.values()].map((all) => percentile(all.map((round) => round.cpuUs), 50) ?? NaN);
  console.log(`\nThe gateway uses ${((gateway ?? NaN) / (bare ?? NaN)).toFixed(2)} times the CPU of the bare proxy.`);
}

/** The limits library's own benchmark. */
async function benchLimits(root: string): Promise<void> {
  const entry = 'libs/limits/bench/limits.bench.ts';
  console.log(`\n${entry}`);
  console.log(await runBenchScript(root, entry, 'target', {}));
}
