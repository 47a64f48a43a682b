import { join } from 'node:path';
import type { PortName } from '@sluice/contracts';
import type { HealthCheck } from '../supervisor/health-check.ts';
import type { PartSpec } from '../supervisor/part-spec.ts';
import { databaseUrl, stackEnvironment } from './stack-environment.ts';
import type { StackSecrets } from './secrets.ts';
import { stackFiles, urlOf, type StackSettings } from './settings.ts';

interface Part {
  readonly name: string;
  readonly purpose: string;
  readonly entry: string;
  readonly port: PortName;
  /** Which of its ports tells its health; `tcp` only looks whether it accepts connections. */
  readonly health: { readonly port: PortName; readonly path: string } | 'tcp';
  readonly readyTimeoutMs?: number;
  readonly graceMs?: number;
  readonly needsWebPages?: true;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * How a gateway is started. glibc keeps memory for each thread that ever asked for some; two shares are enough
 * here, and a few MB less. A young generation of three times 16 MB instead of 32: what many open streams hold is
 * freed sooner, and 1,000 readers that stop take 90 MB instead of 170.
 */
export const GATEWAY_MEMORY: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  NODE_OPTIONS: '--max-semi-space-size=8',
};

const PARTS: readonly Part[] = [
  {
    name: 'spine',
    purpose: 'SNS/SQS emulator that carries usage, audit and anomaly events',
    entry: 'tools/src/parts/spine.ts',
    port: 'spine',
    health: 'tcp',
  },
  {
    name: 'database',
    purpose: 'PostgreSQL with the ledger and the configuration',
    entry: 'tools/src/parts/database.ts',
    port: 'postgres',
    health: 'tcp',
    readyTimeoutMs: 90_000,
  },
  {
    name: 'provider-sim',
    purpose: 'three simulated model providers with fault controls',
    entry: 'apps/provider-sim/src/main.ts',
    port: 'simControl',
    health: { port: 'simControl', path: '/health' },
  },
  {
    name: 'control-plane',
    purpose: 'tenants, keys, policies, ledger; the operator console',
    entry: 'apps/control-plane/src/main.ts',
    port: 'controlPlane',
    health: { port: 'controlPlaneAdmin', path: '/ready' },
  },
  {
    name: 'gateway',
    purpose: 'the data plane: what SDKs talk to',
    entry: 'apps/gateway/src/main.ts',
    port: 'gateway',
    health: { port: 'gatewayAdmin', path: '/ready' },
    graceMs: 30_000,
    env: GATEWAY_MEMORY,
  },
  {
    name: 'router',
    purpose: 'chooses among models',
    entry: 'apps/router/src/main.ts',
    port: 'router',
    health: { port: 'routerAdmin', path: '/health' },
  },
  {
    name: 'console-bff',
    purpose: "the tenant console's backend, its isolation boundary",
    entry: 'apps/console-bff/src/main.ts',
    port: 'consoleBff',
    health: { port: 'consoleBffAdmin', path: '/health' },
  },
  {
    name: 'console',
    purpose: 'the tenant console',
    entry: 'apps/console/server/main.ts',
    port: 'console',
    health: { port: 'console', path: '/' },
    needsWebPages: true,
    readyTimeoutMs: 120_000,
  },
];

/** Every port that the parts listen on, by part. */
export const PORTS_OF_PARTS: readonly { readonly part: string; readonly ports: readonly PortName[] }[] = [
  { part: 'spine', ports: ['spine'] },
  { part: 'database', ports: ['postgres'] },
  { part: 'provider-sim', ports: ['simControl', 'simPrimary', 'simSecondary', 'simTertiary'] },
  { part: 'control-plane', ports: ['controlPlane', 'controlPlaneAdmin'] },
  { part: 'gateway', ports: ['gateway', 'gatewayAdmin'] },
  { part: 'router', ports: ['router', 'routerAdmin'] },
  { part: 'console-bff', ports: ['consoleBff', 'consoleBffAdmin'] },
  { part: 'console', ports: ['console'] },
];

/** The parts of the embedded stack in the order of their start. */
export function stackParts(settings: StackSettings, secrets: StackSecrets): PartSpec[] {
  const env = stackEnvironment(settings, secrets);
  return PARTS.filter((part) => part.name !== 'database' || settings.externalDatabaseUrl === undefined).map((part) => ({
    name: part.name,
    purpose: part.purpose,
    url: part.name === 'database' ? databaseUrl(settings, { databasePassword: '…' }) : urlOf(settings, part.port),
    command: process.execPath,
    args: ['--conditions=@sluice/source', '--disable-warning=ExperimentalWarning', join(settings.root, part.entry)],
    cwd: settings.root,
    env: { ...env, ...part.env, SLUICE_PART: part.name },
    health: healthOf(part, settings),
    readyTimeoutMs: part.readyTimeoutMs ?? 45_000,
    graceMs: part.graceMs ?? 10_000,
    ...(part.needsWebPages === true && { waitForFile: stackFiles(settings.dataDir).webReady }),
  }));
}

function healthOf(part: Part, settings: StackSettings): HealthCheck {
  if (part.health === 'tcp') return { kind: 'tcp', host: '127.0.0.1', port: settings.ports[part.port] };
  return { kind: 'http', url: `${urlOf(settings, part.health.port)}${part.health.path}` };
}
