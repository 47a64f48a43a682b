import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { portsFrom, type StackFile } from '@sluice/contracts';
import { findRedisServer, freePortBase, spawnService, startRedis, type SpawnedService } from '@sluice/testing';
import { loadOrCreateSecrets } from '../stack/secrets.ts';
import { stackEnvironment } from '../stack/stack-environment.ts';
import { stackFiles, stackSettings, type StackSettings } from '../stack/settings.ts';
import { removeData, stopStack } from '../stack/stop-stack.ts';
import { bringUp } from '../verbs/up.ts';

/** A second stack, on ports and in a folder of its own, whose two gateways count limits in one Valkey. */
export interface SharedStoreStack {
  readonly settings: StackSettings;
  readonly stack: StackFile;
  /** Base URLs of both gateways; the first is a part of the stack. */
  readonly gateways: readonly [string, string];
  /** Ends the second gateway as an upgrade does (SIGTERM, drain) and starts it again. */
  restartSecond(): Promise<void>;
  stop(): Promise<void>;
}

const GATEWAY_READY_MS = 60_000;

/** Whether this machine has a server to share limits in. */
export function hasSharedStoreServer(): boolean {
  try {
    findRedisServer();
    return true;
  } catch {
    return false;
  }
}

/** @throws StackError when it does not start; nothing of it runs then. */
export async function startSharedStoreStack(root: string): Promise<SharedStoreStack> {
  const redis = await startRedis();
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-chaos-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SLUICE_DATA_DIR: dataDir,
    SLUICE_LIMIT_STORE: 'valkey',
    VALKEY_URL: redis.url,
    LOG_LEVEL: 'warn',
  };
  const settings = stackSettings(root, { ...env, SLUICE_PORT_BASE: String(await freePortBase()) });
  let second: SpawnedService | undefined;
  const stop = async (): Promise<void> => {
    await second?.stop(30_000);
    await stopStack(dataDir);
    removeData(dataDir);
    await redis.stop();
  };
  try {
    const stack = await bringUp(settings);
    const secondBase = await freePortBase();
    const ports = portsFrom(secondBase);
    const secondEnv = {
      ...stackEnvironment(settings, loadOrCreateSecrets(stackFiles(dataDir).secrets)),
      SLUICE_PORT_BASE: String(secondBase),
      SLUICE_DATA_DIR: join(dataDir, 'second'),
      SLUICE_GATEWAY_ID: 'gw-2',
    };
    const startSecond = () =>
      spawnService({
        entry: join(root, 'apps/gateway/src/main.ts'),
        env: Object.fromEntries(
          Object.entries(secondEnv).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        ),
        readyWhen: { url: `http://127.0.0.1:${ports.gatewayAdmin}/ready` },
        timeoutMs: GATEWAY_READY_MS,
      });
    second = await startSecond();
    return {
      settings,
      stack,
      gateways: [stack.services.gateway.url, `http://127.0.0.1:${ports.gateway}`],
      async restartSecond() {
        await second?.kill('SIGTERM');
        second = await startSecond();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
