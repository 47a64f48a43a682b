import { systemClock, type Clock } from '@sluice/contracts';
import { createLogger, listen } from '@sluice/service-kit';
import {
  createControlPlane,
  type ControlPlane,
  type ControlPlanePorts,
  type ControlPlaneSettings,
} from '../create-control-plane.ts';
import { createMemoryConfigRepository, type MemoryConfigRepository } from '../config/memory-config-repository.ts';
import { seedConfig } from '../config/seed-config.ts';
import { createMemoryAccounts } from '../accounts/memory-accounts.ts';
import type { AuditInput } from '../config/config-repository.ts';
import { createMemoryExportSpine } from '../exports/memory-export-spine.ts';
import { memoryTenantPorts } from './memory-tenant-ports.ts';
import { demoSeed } from './demo-seed.ts';

export const TEST_SETTINGS = {
  operator: { user: 'ops', password: 'operator-password', cost: { N: 16, r: 1, p: 1 } },
  gatewayToken: 'gateway-token',
  routerToken: 'router-token',
  bffToken: 'bff-token',
  principalKey: 'principal-key',
  consoleDir: '/nowhere',
  failureStepMs: 0,
};

export interface TestPlane {
  readonly url: string;
  readonly plane: ControlPlane;
  readonly repository: MemoryConfigRepository;
  /** Audit records that are not of configuration changes. */
  readonly audited: AuditInput[];
  /** A bearer token of a signed-in operator. */
  readonly token: string;
  /** A request as that operator. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** A control plane over real sockets on a configuration in memory; `overrides` replaces ports. */
export async function startTestPlane(
  overrides: Partial<ControlPlanePorts> = {},
  clock: Clock = systemClock,
  settings: Partial<ControlPlaneSettings> = {},
): Promise<TestPlane> {
  const repository = createMemoryConfigRepository();
  const audited: AuditInput[] = [];
  await seedConfig({ repository, clock }, demoSeed());
  const plane = await createControlPlane(
    { ...memoryPorts(repository, audited, clock), ...overrides },
    { ...TEST_SETTINGS, ...settings },
  );
  await plane.store.load();
  const server = await listen(plane.app, { host: '127.0.0.1', port: 0, graceMs: 100 });
  const signedIn = await fetch(`${server.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'ops', password: TEST_SETTINGS.operator.password, bearer: true }),
  });
  const { token } = (await signedIn.json()) as { token: string };
  return {
    url: server.url,
    plane,
    repository,
    audited,
    token,
    call: (method, path, body, headers = {}) =>
      fetch(`${server.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    close: async () => {
      await plane.close();
      await server.close();
    },
  };
}

function memoryPorts(repository: MemoryConfigRepository, audited: AuditInput[], clock: Clock): ControlPlanePorts {
  const accounts = createMemoryAccounts(audited);
  const tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };
  return {
    clock,
    repository,
    logger: createLogger({ service: 'test', level: 'silent' }),
    router: { get: async () => ({}), post: async () => ({}) },
    people: {
      find: async () => undefined,
      byId: async () => undefined,
    },
    sessionArchive: {
      save: async () => undefined,
      find: async () => undefined,
      remove: async () => undefined,
      removeOf: async () => undefined,
    },
    personSessions: {
      open: async () => undefined,
      seen: async () => undefined,
      of: async () => [],
      end: async () => 1,
      endOf: async () => undefined,
    },
    operatorAccounts: accounts.operators,
    personAccounts: accounts.people,
    ledger: {
      rows: async () => ({ rows: [], next_cursor: null }),
      summary: async () => ({
        calls: 0,
        attempts: 0,
        tokens,
        cost_nanousd: 0,
        cost_usd: '0',
        billed_nanousd: 0,
        billed_usd: '0',
        outcomes: {},
      }),
      usage: async () => [],
      watermarks: async () => [],
      quotaUse: async ({ spans }) => ({ spans: spans.map(() => []) }),
      quotaAudit: async ({ levels }) => ({
        levels: levels.map(({ spans }) => ({ held: true, spans: spans.map(() => []) })),
      }),
      corrections: async () => ({ keys: [] }),
    },
    ledgerKeeper: {
      correct: () => Promise.reject(new Error('no ledger here')),
      rebuildRollups: async () => 0,
      checkRollups: async () => [],
    },
    ledgerHead: async () => ({ rows: 0, last_settled_at: null }),
    recentAnomalies: async () => [],
    audit: {
      record: async (input) => {
        audited.push(input);
      },
    },
    auditLog: { rows: async () => ({ rows: [], next_cursor: null }) },
    queues: {
      readStates: async () => [],
      knows: () => true,
      redrive: async () => ({ moved: 0, left: 0, refused: 0, native: false, finished: true }),
      deadLetters: async () => [],
      discard: async () => ({ discarded: 0, left: 0 }),
    },
    putAside: async () => [],
    exportSpine: createMemoryExportSpine(),
    tenant: memoryTenantPorts(repository),
    chaos: {
      canFlood: () => true,
      flood: () => ({ stop: () => undefined, counts: { sent: 0, statuses: {} } }),
      sim: { setFault: async () => undefined, clearFault: async () => undefined },
      setConsumerBroken: () => undefined,
      poison: {
        topicOf: () => 'audit-events',
        queueOf: () => 'audit',
        send: async () => ({ messages: [], refused: 0 }),
      },
    },
  };
}
