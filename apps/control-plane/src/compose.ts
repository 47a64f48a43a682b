import {
  declaredQueue,
  declareTopology,
  portsFrom,
  systemClock,
  TOPOLOGY,
  type Clock,
  type EventPublisher,
  type SeedFile,
} from '@sluice/contracts';
import {
  checkConsumers,
  createSnsPublisher,
  createSpineClients,
  createSqsConsumer,
  discardDeadLetters,
  readDeadLetters,
  readQueueStates,
  redrive,
  sendToQueue,
} from '@sluice/events';
import { createIds, createMetrics, listen, secretBoxFrom, startAdminServer, type Logger } from '@sluice/service-kit';
import { createPostgresOperatorAccounts, createPostgresPersonAccounts } from './accounts/postgres-accounts.ts';
import { createRouteMetrics } from './api/route-metrics.ts';
import { createAudit } from './audit/create-audit.ts';
import { createAuditStore } from './audit/audit-store.ts';
import { createOutboxRelay } from './audit/create-outbox-relay.ts';
import { demoKeysByTenant } from './chaos/demo-keys.ts';
import { startFlood } from './chaos/flood.ts';
import { createValkeyPause } from './chaos/valkey-pause.ts';
import { createPoisonSender } from './chaos/poison-sender.ts';
import { createSimControl } from './chaos/sim-control.ts';
import { createPostgresConfigRepository } from './config/postgres-config-repository.ts';
import { readSeedFile, seedConfig } from './config/seed-config.ts';
import { createAnomalyStore } from './consumers/anomaly-store.ts';
import { createConsumers, type Consumers } from './consumers/create-consumers.ts';
import { createPutAside } from './consumers/put-aside.ts';
import { createSpineMetrics } from './consumers/spine-metrics.ts';
import { createControlPlane, type ControlPlanePorts } from './create-control-plane.ts';
import { createRowRetention } from './db/row-retention.ts';
import { openDatabase, type Database } from './db/open-database.ts';
import { createSnsExportSpine } from './exports/export-spine.ts';
import { createLedger } from './ledger/create-ledger.ts';
import { createLedgerKeeper } from './ledger/ledger-keeper.ts';
import { createLedgerMetrics } from './ledger/ledger-metrics.ts';
import { createRouterClient } from './router/router-client.ts';
import { createPostgresPeople, seedPeople } from './session/postgres-people.ts';
import { createPostgresPersonSessions } from './session/postgres-person-sessions.ts';
import { createPostgresSessionArchive } from './session/postgres-session-archive.ts';
import type { ControlPlaneEnv } from './settings.ts';
import { createPostgresTenantPorts } from './tenant/postgres-tenant-ports.ts';
import { createQueueAdmin } from './state/queue-admin.ts';

export interface StartOptions {
  readonly env: ControlPlaneEnv;
  readonly logger: Logger;
  readonly consoleDir: string;
}

/** The ledger takes events in any order and writes together what several receivers bring; each holds ten messages. */
const METERING_RECEIVERS = 8;
const READ_CONNECTIONS = 8;
const BEAT_MS = 1_000;
const OUTBOX_WATCH_MS = 5_000;
const PRUNE_MS = 10_000;
const RELAY_INTERVAL_MS = 200;
const ANOMALIES_SHOWN = 50;
/** What is there without any tenant's export. */
const CORE_TOPOLOGY = declareTopology([]);

/** Starts the control plane of this environment: database, spine, consumers, both ports. */
export async function startControlPlane({
  env,
  logger,
  consoleDir,
}: StartOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  const clock = systemClock;
  const secretBox = secretBoxFrom({ key: env.SLUICE_DATA_KEY, file: env.SLUICE_DATA_KEY_FILE });
  const seed = env.SLUICE_SEED_FILE === undefined ? undefined : await readSeedFile(env.SLUICE_SEED_FILE);
  const database = await openDatabase({ url: env.DATABASE_URL, logger });
  await database.migrate();
  // What people read waits for these alone, never what is written.
  const reads = await openDatabase({ url: env.DATABASE_URL, logger, maxConnections: READ_CONNECTIONS });
  const spine = createSpineClients({
    region: env.AWS_REGION,
    ...(env.AWS_ACCOUNT_ID === undefined ? {} : { account: env.AWS_ACCOUNT_ID }),
    ...(env.AWS_ENDPOINT_URL === undefined ? {} : { endpoint: env.AWS_ENDPOINT_URL }),
    ...(env.AWS_ACCESS_KEY_ID === undefined || env.AWS_SECRET_ACCESS_KEY === undefined
      ? {}
      : { credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY } }),
  });
  const publisher: EventPublisher = createSnsPublisher({ spine, logger });
  const metrics = createMetrics({ service: 'control-plane', processMetrics: true });
  const spineMetrics = createSpineMetrics(metrics);
  const ledger = createLedger({
    db: database.db,
    reads: reads.db,
    clock,
    metrics: createLedgerMetrics(metrics, clock),
  });
  await ledger.prepare();
  const putAside = createPutAside({
    db: database.db,
    clock,
    onTaken: (record) => logger.error(record, 'a record is never taken and was put aside; the rest goes on'),
  });
  const retention = createRowRetention({
    db: database.db,
    clock,
    keepDays: env.SLUICE_KEEP_DAYS,
    onPruned: spineMetrics.pruned,
  });
  const consumers = createConsumers({
    putAside: { records: putAside, lastReceive: declaredQueue(CORE_TOPOLOGY, 'metering').maxReceiveCount },
    ledger,
    db: database.db,
    clock,
    consumerFactory: (name, handler) =>
      createSqsConsumer({
        spine,
        queue: declaredQueue(CORE_TOPOLOGY, name),
        handler,
        logger,
        receivers: name === 'metering' ? METERING_RECEIVERS : 1,
        ready: () => database.healthy(),
        onBatch: (batch) => spineMetrics.batch(name, batch),
      }),
  });
  const topology = () =>
    declareTopology(plane.exports.list.filter(({ state }) => state !== 'pending').map(({ tenant }) => tenant));
  const queues = createQueueAdmin({
    clock,
    topology,
    read: async (now) => {
      const states = await readQueueStates(now, spine);
      spineMetrics.depths(states);
      return states;
    },
    redrive: (queue) => redrive(queue, spine),
    deadLetters: (queue, limit) => readDeadLetters(queue, spine, limit),
    discard: (queue, ids) => discardDeadLetters(queue, spine, ids),
    onRedrive: spineMetrics.redriven,
  });
  const poison = createPoisonSender({
    topology: TOPOLOGY,
    publisher,
    clock,
    newId: createIds({ clock }).ulid,
    sendToQueue: (queue, messages) => sendToQueue(queue, spine, messages),
  });
  const ports = controlPlanePorts({
    env,
    logger,
    clock,
    database,
    reads,
    ledger,
    queues,
    consumers,
    poison,
    putAside: putAside.list,
    seed,
    exportSpine: createSnsExportSpine(spine),
  });
  if (seed !== undefined) await seedEmptyDatabase(database, { ...ports, secretBox }, seed, logger);

  const plane = await createControlPlane(ports, {
    operator: { user: env.SLUICE_OPERATOR_USER, password: env.SLUICE_OPERATOR_PASSWORD },
    gatewayToken: env.SLUICE_TOKEN_GATEWAY,
    routerToken: env.SLUICE_TOKEN_ROUTER_CP,
    bffToken: env.SLUICE_TOKEN_BFF,
    principalKey: env.SLUICE_PRINCIPAL_KEY,
    consoleDir,
    secretBox,
    onAnswer: createRouteMetrics(metrics),
    extraHosts: env.SLUICE_OPERATOR_HOSTS,
    trustedProxies: env.SLUICE_TRUSTED_PROXIES,
  });
  await plane.store.load();
  const relay = createOutboxRelay({
    putAside,
    db: database.db,
    publisher,
    clock,
    intervalMs: RELAY_INTERVAL_MS,
    onError: (error) => logger.warn({ err: error }, 'audit events wait in the outbox'),
  });
  const check = checkConsumers({
    process: 'control-plane',
    queues: Object.keys(consumers.byName),
    topology: CORE_TOPOLOGY,
    spine,
    logger,
  });
  consumers.start();
  relay.start();
  const beat = setInterval(() => void plane.beat(), BEAT_MS);
  // While the database is away the figures stand still, which /ready and the picture explain.
  const outboxWatch = setInterval(() => {
    void relay.measure().then(spineMetrics.outbox, () => undefined);
    void putAside.count().then(spineMetrics.putAside, () => undefined);
  }, OUTBOX_WATCH_MS);
  const pruning = setInterval(
    () => void retention.turn().catch((error: unknown) => logger.warn({ err: error }, 'old rows could not be deleted')),
    PRUNE_MS,
  );
  const portOf = portsFrom(env.SLUICE_PORT_BASE);
  const server = await listen(plane.app, { host: env.HOST, port: portOf.controlPlane });
  const admin = await startAdminServer({
    host: env.HOST,
    port: portOf.controlPlaneAdmin,
    metrics,
    ready: () => ({
      ready: plane.store.version > 0,
      detail: {
        config_version: plane.store.version,
        problems: plane.state().problems,
        consumes: check.claims,
        spine_faults: check.faults ?? null,
      },
    }),
  });
  logger.info({ url: server.url, config_version: plane.store.version }, 'the operator API is open');

  return {
    url: server.url,
    close: async () => {
      clearInterval(beat);
      clearInterval(outboxWatch);
      clearInterval(pruning);
      await plane.close();
      await Promise.all([server.close(), admin.close()]);
      await Promise.all([consumers.stop(), relay.stop(), check.stop()]);
      await publisher.close();
      spine.close();
      await Promise.all([reads.close(), database.close()]);
    },
  };
}

function controlPlanePorts(deps: {
  env: ControlPlaneEnv;
  logger: Logger;
  clock: Clock;
  database: Database;
  reads: Database;
  ledger: ReturnType<typeof createLedger>;
  queues: ControlPlanePorts['queues'];
  consumers: Consumers;
  poison: ReturnType<typeof createPoisonSender>;
  putAside: ControlPlanePorts['putAside'];
  seed: SeedFile | undefined;
  exportSpine: ControlPlanePorts['exportSpine'];
}): ControlPlanePorts {
  const { env, logger, clock, database, ledger, queues, consumers, poison, seed, exportSpine } = deps;
  const { db } = database;
  const audit = createAudit({ clock, ids: createIds({ clock }) });
  const ports: ControlPlanePorts = {
    clock,
    logger,
    ledger,
    queues,
    putAside: deps.putAside,
    exportSpine,
    tenant: createPostgresTenantPorts({
      db,
      reads: deps.reads.db,
      clock,
      recordAudit: audit.record,
      webhookLoopback: env.SLUICE_WEBHOOK_LOOPBACK === '1',
    }),
    repository: createPostgresConfigRepository({ db, recordAudit: audit.record }),
    people: createPostgresPeople({ db }),
    router: createRouterClient({ url: env.SLUICE_ROUTER_URL, token: env.SLUICE_TOKEN_ROUTER }),
    operatorAccounts: createPostgresOperatorAccounts({ db, recordAudit: audit.record }),
    personAccounts: createPostgresPersonAccounts({ db, recordAudit: audit.record }),
    sessionArchive: createPostgresSessionArchive({ db }),
    personSessions: createPostgresPersonSessions({ db, clock }),
    ledgerKeeper: createLedgerKeeper({ ledger, recordAudit: audit.record }),
    ledgerHead: ledger.head,
    recentAnomalies: () => createAnomalyStore({ db }).recent(ANOMALIES_SHOWN),
    audit: {
      record: async (input) => {
        await audit.record(db, input);
      },
    },
    auditLog: createAuditStore({ db }),
  };
  if (env.SLUICE_CHAOS !== '1') return ports;
  const portOf = portsFrom(env.SLUICE_PORT_BASE);
  const gatewayUrl = env.SLUICE_GATEWAY_URL ?? `http://127.0.0.1:${portOf.gateway}`;
  const keys = demoKeysByTenant(seed ?? { keys: [], workspaces: [] });
  return {
    ...ports,
    chaos: {
      ...(env.SLUICE_LIMIT_STORE === 'valkey' && {
        valkey: createValkeyPause(env.VALKEY_URL ?? `redis://127.0.0.1:${portOf.valkey}`),
      }),
      canFlood: (tenant) => keys.has(tenant),
      flood: (tenant, rps) => {
        const key = keys.get(tenant);
        return key === undefined ? undefined : startFlood({ gatewayUrl, key, rps });
      },
      sim: createSimControl({ url: env.SLUICE_SIM_CONTROL_URL ?? `http://127.0.0.1:${portOf.simControl}` }),
      setConsumerBroken: consumers.setBroken,
      poison,
    },
  };
}

async function seedEmptyDatabase(
  database: Database,
  ports: Parameters<typeof seedConfig>[0],
  seed: SeedFile,
  logger: Logger,
): Promise<void> {
  if (await seedConfig(ports, seed))
    logger.info(
      { tenants: seed.tenants.length, workspaces: seed.workspaces.length },
      'filled the empty database from the seed file',
    );
  await seedPeople(database.db, seed.users);
}
