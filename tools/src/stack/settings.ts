import { join } from 'node:path';
import { portsFrom, type PortName } from '@sluice/contracts';

/** Where one checkout's stack lives and listens. */
export interface StackSettings {
  /** Root of the checkout. */
  readonly root: string;
  /** Holds everything the stack writes. */
  readonly dataDir: string;
  readonly host: string;
  readonly portBase: number;
  readonly ports: Record<PortName, number>;
  /** A PostgreSQL of the user's own; undefined starts the embedded one. */
  readonly externalDatabaseUrl: string | undefined;
  /** What the user's shell gave; passed on to the parts. */
  readonly env: NodeJS.ProcessEnv;
}

/** @throws RangeError when SLUICE_PORT_BASE is not a whole number or moves a port out of 1-65535. */
export function stackSettings(root: string, env: NodeJS.ProcessEnv): StackSettings {
  const portBase = Number(env['SLUICE_PORT_BASE'] ?? '0');
  return {
    root,
    dataDir: env['SLUICE_DATA_DIR'] ?? join(root, '.sluice'),
    host: env['HOST'] ?? '127.0.0.1',
    portBase,
    ports: portsFrom(portBase),
    externalDatabaseUrl: env['DATABASE_URL'],
    env,
  };
}

/** Every file of a running stack. */
export function stackFiles(dataDir: string) {
  return {
    secrets: join(dataDir, 'secrets.json'),
    seed: join(dataDir, 'seed.json'),
    stack: join(dataDir, 'stack.json'),
    state: join(dataDir, 'supervisor.json'),
    webReady: join(dataDir, 'web-ready'),
    /** What the clients of `seed`, `demo` and `chaos` were told, a JSON line for each call. */
    clients: join(dataDir, 'clients.jsonl'),
    logs: join(dataDir, 'logs'),
    log: (part: string) => join(dataDir, 'logs', `${part}.log`),
  };
}

/** The address by which this machine reaches what listens on `host`. */
export function urlOf(settings: StackSettings, port: PortName): string {
  const host = settings.host === '0.0.0.0' || settings.host === '::' ? '127.0.0.1' : settings.host;
  return `http://${host}:${settings.ports[port]}`;
}
