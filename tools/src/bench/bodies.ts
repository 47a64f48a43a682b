import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigSnapshot, portsFrom } from '@sluice/contracts';
import { freePortBase } from '@sluice/testing';
import { randomBase62 } from '../stack/secrets.ts';
import { table } from '../stack/welcome.ts';
import { runBenchScript, startBenchProcess } from './bench-process.ts';
import { printTarget } from './bench-report.ts';
import { benchSnapshot } from './bench-snapshot.ts';
import { gatewayEnvironment, type BenchTargets } from './bench-targets.ts';

const BYTES = 9_600_000;
const TENANTS = [2, 10];
const SHAPES = ['escapes', 'brackets', 'numbers', 'names', 'string', 'space'];
const NEIGHBOUR_CONNECTIONS = 4;
const LOOP_P99_MS = 30;

interface Figures {
  readonly p95Ms: number;
  readonly errors: number;
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly sent: string;
}

/**
 * Delay of the gateway's event loop, and latency of a neighbour's small calls, while tenants without limits send bodies
 * of 9.6 MB that are made to stop it; beside the same through the bare proxy, which reads no body.
 */
export async function benchBodies(bench: BenchTargets, _rounds: number, seconds: number): Promise<void> {
  const base = await freePortBase();
  const ports = portsFrom(base);
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const made = Array.from({ length: 11 }, (_, n) => {
    const keyId = `bench${String(n).padStart(7, '0')}`;
    const key = `sk-sluice-${keyId}-${randomBase62(32)}`;
    return { keyId, key, digest: createHash('sha256').update(key).digest('hex') };
  });
  const snapshot = ConfigSnapshot.parse(benchSnapshot(`http://127.0.0.1:${bench.upstreamPort}`, made));
  mkdirSync(join(dataDir, 'gateway'), { recursive: true });
  writeFileSync(join(dataDir, 'gateway', 'snapshot.json'), JSON.stringify({ savedAtMs: Date.now(), snapshot }), {
    mode: 0o600,
  });
  const admin = `http://127.0.0.1:${ports.gatewayAdmin}`;
  const gateway = await startBenchProcess(
    bench.root,
    'apps/gateway/dist/main.js',
    'target',
    gatewayEnvironment(base, dataDir, {}),
    { kind: 'http', url: `${admin}/ready` },
  );
  try {
    const [neighbour, ...attackers] = made.map(({ key }) => key) as [string, ...string[]];
    const bare = bench.targets.find(({ name }) => name === 'bare')?.port ?? 0;
    const measure = async (port: number, shape: string | undefined, tenants: number): Promise<Figures> => {
      await loopDelay(admin);
      const attack =
        shape === undefined
          ? undefined
          : runBenchScript(bench.root, 'tools/src/bench/body-attack.ts', 'rest', {
              PORT: String(port),
              KEYS: attackers.slice(0, tenants).join(','),
              SHAPE: shape,
              BYTES: String(BYTES),
              SECONDS: String(seconds),
            });
      const client = runBenchScript(bench.root, 'tools/src/bench/load-client.ts', 'rest', {
        PORT: String(port),
        KEY: neighbour,
        CONNECTIONS: String(NEIGHBOUR_CONNECTIONS),
        SECONDS: String(seconds),
      });
      const { p95Ms, errors } = JSON.parse(await client) as { p95Ms: number; errors: number };
      const loop = await loopDelay(admin);
      const { sent, statuses } =
        attack === undefined
          ? { sent: 0, statuses: {} }
          : (JSON.parse(await attack) as { sent: number; statuses: object });
      return { p95Ms, errors, ...loop, sent: sent === 0 ? '' : `${sent} ${JSON.stringify(statuses)}` };
    };
    for (let i = 0; i < 2; i += 1) await measure(ports.gateway, 'string', 2);
    const rows: string[][] = [
      ['attack', 'tenants', 'loop p99 ms', 'loop max ms', 'p95 ms', 'errors', 'p95 ms bare', 'sent'],
    ];
    let worst = 0;
    const add = async (shape: string | undefined, tenants: number): Promise<void> => {
      const ours = await measure(ports.gateway, shape, tenants);
      const theirs = await measure(bare, shape, tenants);
      worst = Math.max(worst, ours.loopP99Ms);
      rows.push([
        shape ?? 'none',
        String(tenants),
        ours.loopP99Ms.toFixed(1),
        ours.loopMaxMs.toFixed(1),
        ours.p95Ms.toFixed(1),
        String(ours.errors),
        theirs.p95Ms.toFixed(1),
        ours.sent,
      ]);
    };
    await add(undefined, 0);
    for (const tenants of TENANTS) for (const shape of SHAPES) await add(shape, tenants);
    console.log(
      `\nBodies of ${BYTES / 1e6} MB by tenants without limits, each on one connection, beside ${NEIGHBOUR_CONNECTIONS} connections of a neighbour; ${seconds} s each. A loop that never waits shows about 10 ms, the clock of the measurement.`,
    );
    console.log(table(rows).join('\n'));
    printTarget('Delay of the event loop, p99', worst, LOOP_P99_MS, undefined, ' ms');
  } finally {
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Delay of the loop since it was last asked for. */
async function loopDelay(admin: string): Promise<{ readonly loopP99Ms: number; readonly loopMaxMs: number }> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const ms = (name: string): number =>
    1000 *
    Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1] ?? NaN);
  return { loopP99Ms: ms('p99'), loopMaxMs: ms('max') };
}
