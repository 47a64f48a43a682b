import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigSnapshot, portsFrom } from '@sluice/contracts';
import { savedConfigurationText, writtenSnapshot } from '@sluice/service-kit';
import { freePortBase } from '@sluice/testing';
import { randomBase62 } from '../stack/secrets.ts';
import {
  cpuMicroseconds,
  residentBytes,
  runBenchScript,
  startBenchProcess,
  type BenchProcess,
} from './bench-process.ts';
import { medianRatio, printFigures, printTarget } from './bench-report.ts';
import { benchSnapshot } from './bench-snapshot.ts';
import { gatewayEnvironment, type BenchTargets } from './bench-targets.ts';

const SIZES = [1_000, 100_000];
/** Workspaces that send, spread evenly over all of them. */
const BUSY = 1_000;
const CONNECTIONS = 64;
const MB = 1024 * 1024;

interface Sized {
  readonly size: number;
  readonly port: number;
  readonly process: BenchProcess;
  readonly keys: readonly string[];
  readonly dataDir: string;
}

async function startSized(bench: BenchTargets, size: number): Promise<Sized> {
  const base = await freePortBase();
  const ports = portsFrom(base);
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const made = Array.from({ length: size }, (_, n) => {
    const keyId = `bench${String(n).padStart(7, '0')}`;
    const key = `sk-sluice-${keyId}-${randomBase62(32)}`;
    return { keyId, key, digest: createHash('sha256').update(key).digest('hex') };
  });
  const snapshot = ConfigSnapshot.parse(benchSnapshot(`http://127.0.0.1:${bench.upstreamPort}`, made));
  mkdirSync(join(dataDir, 'gateway'), { recursive: true });
  writeFileSync(
    join(dataDir, 'gateway', 'snapshot.json'),
    [...savedConfigurationText(Date.now(), writtenSnapshot(snapshot))].join(''),
    { mode: 0o600 },
  );
  try {
    const process = await startBenchProcess(
      bench.root,
      'apps/gateway/dist/main.js',
      'target',
      gatewayEnvironment(base, dataDir, {}),
      { kind: 'http', url: `http://127.0.0.1:${ports.gatewayAdmin}/ready` },
    );
    return {
      size,
      port: ports.gateway,
      process,
      keys: Array.from({ length: BUSY }, (_, n) => made[(n * size) / BUSY]?.key ?? ''),
      dataDir,
    };
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}

interface Figures {
  readonly cpuUs: number;
  readonly errors: number;
}

async function measure(bench: BenchTargets, { port, process, keys }: Sized, seconds: number): Promise<Figures> {
  const before = cpuMicroseconds(process.pid) ?? NaN;
  const output = await runBenchScript(bench.root, 'tools/src/bench/load-client.ts', 'rest', {
    PORT: String(port),
    KEY: keys.join(','),
    CONNECTIONS: String(CONNECTIONS),
    SECONDS: String(seconds),
  });
  const { requests, errors } = JSON.parse(output) as { requests: number; errors: number };
  return { cpuUs: ((cpuMicroseconds(process.pid) ?? NaN) - before) / requests, errors };
}

/**
 * The same load on a gateway that knows 1,000 workspaces and one that knows 100,000, each with one key and three
 * levels of limits: CPU and memory.
 */
export async function benchManyWorkspaces(bench: BenchTargets, rounds: number, seconds: number): Promise<void> {
  const gateways: Sized[] = [];
  try {
    for (const size of SIZES) gateways.push(await startSized(bench, size));
    const results = new Map(gateways.map(({ size }) => [size, [] as Figures[]]));
    for (const gateway of gateways) await measure(bench, gateway, seconds);
    for (let round = 1; round <= rounds; round += 1)
      for (const gateway of gateways) results.get(gateway.size)?.push(await measure(bench, gateway, seconds));
    const memory = gateways.map(({ process }) => (residentBytes(process.pid) ?? NaN) / MB);
    printFigures(
      `Workspaces that the gateway knows, ${BUSY} of them sending, ${CONNECTIONS} connections, ${rounds} interleaved rounds of ${seconds} s; median / min / max.`,
      ['CPU µs / request', 'errors', 'memory MB'],
      [1, 0, 0],
      gateways.map(({ size }, i) => ({
        name: `${size} workspaces`,
        columns: [
          results.get(size)?.map((r) => r.cpuUs) ?? [],
          results.get(size)?.map((r) => r.errors) ?? [],
          [memory[i] ?? NaN],
        ],
      })),
    );
    printTarget('memory with 100,000 workspaces', memory[1] ?? NaN, 370, undefined, ' MB');
    const cpu = SIZES.map((size) => results.get(size)?.map((round) => round.cpuUs));
    console.log(`  CPU per request with 100,000 workspaces ÷ with 1,000: ${medianRatio(cpu[1], cpu[0]).toFixed(2)}`);
  } finally {
    for (const { process, dataDir } of gateways) {
      await process.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
}
