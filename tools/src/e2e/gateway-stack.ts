import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { portsFrom, type SimFault, SimStats } from '@sluice/contracts';
import { freePortBase, spawnService, type SpawnedService } from '@sluice/testing';
import { fixtureSnapshot, type FixtureWorkspace } from './fixture-snapshot.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * A gateway and the simulated providers as processes of their own, without control plane, spine, database or
 * router.
 */
export interface GatewayStack {
  readonly url: string;
  readonly portBase: number;
  readonly dataDir: string;
  readonly gateway: SpawnedService;
  fault(provider: string, fault: SimFault): Promise<void>;
  clearFault(provider: string): Promise<void>;
  stats(provider: string): Promise<SimStats>;
  /** Kills the gateway without warning and starts it again on the same data. */
  restartGateway(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  stop(): Promise<void>;
}

export interface GatewayStackOptions {
  readonly workspaces: readonly FixtureWorkspace[];
  /** Slots of each simulated provider's credential. */
  readonly slots?: number;
  /** Another provider in the place of the simulated primary, base URL. */
  readonly primaryUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Its folder, which goes with it; a new one when absent. */
  readonly dataDir?: string;
}

/** @throws Error when it does not start; nothing of it runs and nothing is left of its folder then. */
export async function startGatewayStack({
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-e2e-')),
  ...options
}: GatewayStackOptions): Promise<GatewayStack> {
  try {
    return await start(dataDir, options);
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function start(dataDir: string, options: Omit<GatewayStackOptions, 'dataDir'>): Promise<GatewayStack> {
  const portBase = await freePortBase();
  const ports = portsFrom(portBase);
  mkdirSync(join(dataDir, 'gateway'), { recursive: true });
  const snapshot = fixtureSnapshot(portBase, options.workspaces, options.slots);
  const { primary } = snapshot.providers;
  if (options.primaryUrl !== undefined && primary !== undefined) primary.baseUrl = options.primaryUrl;
  writeFileSync(join(dataDir, 'gateway', 'snapshot.json'), JSON.stringify({ savedAtMs: Date.now(), snapshot }), {
    mode: 0o600,
  });
  const env = {
    SLUICE_PORT_BASE: String(portBase),
    HOST: '127.0.0.1',
    SLUICE_DATA_DIR: dataDir,
    SLUICE_GATEWAY_ID: 'gw-1',
    SLUICE_SECRET_SIM: 'simulated',
    // Nothing listens there: the gateway must serve all the same.
    SLUICE_CONTROL_PLANE_URL: `http://127.0.0.1:${ports.controlPlane}`,
    SLUICE_TOKEN_GATEWAY: 'token-for-tests-only-0123456789',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${ports.spine}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    LOG_LEVEL: 'warn',
    ...options.env,
  };
  const control = `http://127.0.0.1:${ports.simControl}`;
  const sim = await spawnService({
    entry: join(ROOT, 'apps/provider-sim/src/main.ts'),
    env,
    readyWhen: { url: `${control}/health` },
  });
  const spawnGateway = () =>
    spawnService({
      entry: join(ROOT, 'apps/gateway/src/main.ts'),
      env,
      readyWhen: { url: `http://127.0.0.1:${ports.gatewayAdmin}/ready` },
      timeoutMs: 60_000,
    });
  let gateway: SpawnedService;
  try {
    gateway = await spawnGateway();
  } catch (error) {
    await sim.stop();
    throw error;
  }

  const call = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const response = await fetch(`${control}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };

  return {
    url: `http://127.0.0.1:${ports.gateway}`,
    portBase,
    dataDir,
    get gateway() {
      return gateway;
    },
    fault: async (provider, fault) => void (await call('POST', `/providers/${provider}/fault`, fault)),
    clearFault: async (provider) => void (await call('DELETE', `/providers/${provider}/fault`)),
    stats: async (provider) => SimStats.parse(await (await call('GET', `/providers/${provider}/stats`)).json()),
    async restartGateway(signal) {
      await gateway.kill(signal);
      gateway = await spawnGateway();
    },
    async stop() {
      await gateway.stop();
      await sim.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
