import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigSnapshot, DEFAULT_CELL_ID, portsFrom } from '@sluice/contracts';
import { freePortBase } from '@sluice/testing';
import { randomBase62 } from '../stack/secrets.ts';
import { GATEWAY_MEMORY } from '../stack/stack-parts.ts';
import { buildApp, startBenchProcess, type BenchProcess } from './bench-process.ts';
import { benchSnapshot } from './bench-snapshot.ts';
import { findNginx, startNginx } from './nginx-target.ts';

/** What stands between client and upstream. */
export interface Target {
  readonly name: 'nginx' | 'bare' | 'gateway';
  readonly port: number;
  readonly process: BenchProcess;
}

export interface BenchTargets {
  readonly root: string;
  /** The API key that the gateway knows. */
  readonly key: string;
  readonly upstreamPort: number;
  /** nginx where installed, the bare proxy, the gateway; in this order. */
  readonly targets: readonly Target[];
  readonly gateway: Target;
  close(): Promise<void>;
}

/** Starts the upstream, the baselines and the gateway, each as a process of its own on loopback. */
export async function startBenchTargets(root: string, env: NodeJS.ProcessEnv): Promise<BenchTargets> {
  buildApp(root, 'gateway');
  const base = await freePortBase();
  const ports = portsFrom(base);
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const keyId = randomBase62(12);
  const key = `sk-sluice-${keyId}-${randomBase62(32)}`;
  const started: BenchProcess[] = [];
  const keep = async (process: Promise<BenchProcess>): Promise<BenchProcess> => {
    started.push(await process);
    return process;
  };
  const close = async (): Promise<void> => {
    for (const process of started.toReversed()) await process.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const tcp = (port: number) => ({ kind: 'tcp', host: '127.0.0.1', port }) as const;
  try {
    const upstream = `http://127.0.0.1:${ports.simPrimary}`;
    await keep(
      startBenchProcess(
        root,
        'tools/src/bench/fast-upstream.ts',
        'rest',
        { PORT: String(ports.simPrimary) },
        tcp(ports.simPrimary),
      ),
    );
    const bare = await keep(
      startBenchProcess(
        root,
        'tools/src/bench/bare-proxy.ts',
        'target',
        { PORT: String(ports.edge), UPSTREAM: upstream },
        tcp(ports.edge),
      ),
    );
    const binary = findNginx();
    const nginx =
      binary === undefined ? undefined : await keep(startNginx(binary, dataDir, ports.simTertiary, ports.simPrimary));

    mkdirSync(join(dataDir, 'gateway'), { recursive: true });
    const snapshot = ConfigSnapshot.parse(
      benchSnapshot(upstream, [{ keyId, digest: createHash('sha256').update(key).digest('hex') }]),
    );
    writeFileSync(join(dataDir, 'gateway', 'snapshot.json'), JSON.stringify({ savedAtMs: Date.now(), snapshot }), {
      mode: 0o600,
    });
    const gatewayEnv = gatewayEnvironment(base, dataDir, env);
    const ready = { kind: 'http', url: `http://127.0.0.1:${ports.gatewayAdmin}/ready` } as const;
    const gateway: Target = {
      name: 'gateway',
      port: ports.gateway,
      process: await keep(startBenchProcess(root, 'apps/gateway/dist/main.js', 'target', gatewayEnv, ready)),
    };
    return {
      root,
      key,
      upstreamPort: ports.simPrimary,
      gateway,
      targets: [
        ...(nginx === undefined ? [] : [{ name: 'nginx', port: ports.simTertiary, process: nginx } as const]),
        { name: 'bare', port: ports.edge, process: bare },
        gateway,
      ],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A gateway that is alone: nothing listens where control plane and spine would. */
export function gatewayEnvironment(base: number, dataDir: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ports = portsFrom(base);
  return {
    ...GATEWAY_MEMORY,
    NODE_ENV: 'production',
    SLUICE_PORT_BASE: String(base),
    HOST: '127.0.0.1',
    SLUICE_DATA_DIR: dataDir,
    SLUICE_GATEWAY_ID: 'gw-1',
    SLUICE_CELL_ID: DEFAULT_CELL_ID,
    SLUICE_OUTBOX_MAX_MB: '16384',
    LOG_LEVEL: 'info',
    SLUICE_TOKEN_GATEWAY: randomBase62(40),
    SLUICE_CONTROL_PLANE_URL: `http://127.0.0.1:${ports.controlPlane}`,
    AWS_ENDPOINT_URL: `http://127.0.0.1:${ports.spine}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ...(env['BENCH_PROFILE'] !== undefined && {
      NODE_OPTIONS: `${GATEWAY_MEMORY['NODE_OPTIONS']} --cpu-prof --cpu-prof-dir=${env['BENCH_PROFILE']}`,
    }),
  };
}
