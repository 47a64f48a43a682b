import { join } from 'node:path';
import { systemClock } from '@sluice/contracts';
import {
  createEventQueue,
  createOutboxPublisher,
  createSnsPublisher,
  createSpineClients,
  nodeFiles,
  openOutbox,
} from '@sluice/events';
import { createAdapterRegistry, createTransport } from '@sluice/providers';
import {
  childTraceparent,
  createIds,
  createLineLog,
  createMetrics,
  parseTraceparent,
  startAdminServer,
  type Logger,
} from '@sluice/service-kit';
import { createChaosHooks } from './chaos/chaos-hooks.ts';
import { createBodyPool } from './bodies/body-pool.ts';
import { comeBack } from './come-back.ts';
import { tenantOfCell } from './compiled-config.ts';
import { createConfigClient } from './config/config-client.ts';
import { composeUpstream } from './compose-upstream.ts';
import type { GatewaySettings } from './environment.ts';
import { createHeartbeats } from './http/heartbeats.ts';
import { createGatewayServer } from './http/server.ts';
import { createLimits } from './metering/limits.ts';
import { createEstimator } from './metering/estimator.ts';
import { createFetchQuotaUse, createLedgerUse, scopesOf } from './metering/ledger-use.ts';
import { createLateRecords } from './metering/late-records.ts';
import { createFoundedLimits } from './metering/founded-limits.ts';
import { createLedgerAudit } from './metering/ledger-audit.ts';
import { createLedgerClient } from './metering/ledger-client.ts';
import { createQuotaKeeper } from './metering/quota-keeper.ts';
import { recover } from './metering/recover.ts';
import { pipelineOf } from './pipeline.ts';
import { createCallReport } from './report/call-report.ts';
import { describeGateway } from './report/describe-gateway.ts';
import { createGatewayMetrics } from './report/gateway-metrics.ts';
import { createHealthAnomalies } from './report/health-anomalies.ts';
import { createKeyRefusals } from './report/key-refusals.ts';
import { createLiveCounters } from './report/live-counters.ts';
import { createProviderFigures } from './report/provider-figures.ts';
import { createPublishAnomaly, restartAnomaly } from './report/publish-anomaly.ts';
import { createRefusalAnomalies } from './report/refusal-anomalies.ts';
import { createQuotaAlerts } from './report/quota-alerts.ts';
import { createUsageAlerts } from './report/usage-alerts.ts';
import { createReporter } from './report/reporter.ts';
import { createLearnedRouting } from './router/learned-routing.ts';
import { asOtherRoutes, createApp } from './routes/app.ts';
import { createSpendSource } from './routes/spend.ts';
import { createAdmitStage } from './stages/admit/admit.ts';
import { createRetrySlots } from './stages/admit/retry-slots.ts';
import { createLookAhead } from './refusals/look-ahead.ts';
import { createCountingAttemptStage } from './stages/attempt/count-tokens.ts';
import { createAuthenticateStage } from './stages/authenticate/authenticate.ts';
import { createFindPerson } from './stages/authenticate/person.ts';
import { createCacheStage } from './stages/cache/cache.ts';
import { createIdempotencyStage } from './stages/idempotency/idempotency.ts';
import { createPlaceStage } from './stages/place/place.ts';
import { createReadBodyStage } from './stages/read-body/read-body.ts';
import { createRelayStage } from './stages/relay/relay.ts';
import { createResolveStage } from './stages/resolve/resolve.ts';
import { createPlanner } from './planning/planner.ts';
import { createSettleStage } from './stages/settle/settle.ts';
import { createHealthProbes } from './upstream/health-probes.ts';
import { createRetryBudgets } from './upstream/retry-budgets.ts';
import { createSecretResolver, missingSecrets } from './upstream/secrets.ts';

const HEARTBEAT_MS = 3_000;
const HEALTH_MS = 1_000;
/** A balancer that looks each second, or sees one refusal, sends no more by then. */
const DRAIN_NOTICE_MS = 1_500;

/**
 * Builds the gateway from its parts and opens its ports: configuration from disk or stream, quota counters, the calls
 * that a killed process left open, and only then the first admission.
 */
export async function composeGateway(
  settings: GatewaySettings,
  logger: Logger,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ close(): Promise<void> }> {
  const chaos = settings.chaos
    ? createChaosHooks({
        clock: systemClock,
        files: nodeFiles,
        logger,
        kill: () => process.kill(process.pid, 'SIGKILL'),
      })
    : undefined;
  const clock = chaos?.clock ?? systemClock;
  const startedAtMs = clock.now();
  const ids = createIds({ clock });
  const callLog = createLineLog({ service: 'gateway', level: settings.logLevel });
  const metrics = createMetrics({ service: 'gateway', processMetrics: true });
  const spine = () =>
    createSpineClients({
      ...(settings.spineEndpoint === undefined ? {} : { endpoint: settings.spineEndpoint }),
      ...(settings.awsAccount === undefined ? {} : { account: settings.awsAccount }),
      region: settings.region,
    });
  const publisher = createSnsPublisher({ spine: spine(), logger });
  // Connections of their own: what is not usage may be dropped and must not hold usage up.
  const otherPublisher = createSnsPublisher({ spine: spine(), logger });
  const otherEvents = createEventQueue({ publisher: otherPublisher, logger });
  const opened = openOutbox({
    dir: join(settings.dataDir, 'outbox'),
    gatewayId: settings.gatewayId,
    clock,
    files: chaos?.files ?? nodeFiles,
    maxBytes: settings.outboxMaxBytes,
    maxAgeMs: settings.outboxMaxAgeMs,
    tenantShare: settings.outboxTenantShare,
    dedicatedTo: () => tenantOfCell(config.current(), settings.cellId),
    fsyncIntervalMs: settings.outboxFsyncMs,
    atBound: settings.outboxAtBound,
    logger,
  });
  const { outbox } = opened;
  const store = createLimits(settings, outbox.epoch, clock, logger);
  const outboxPublisher = createOutboxPublisher({
    outbox,
    publisher,
    clock,
    logger,
    ledgerConnected: () => config.connected,
  });
  const ledger = createLedgerUse({
    fetch: createFetchQuotaUse({ url: settings.controlPlaneUrl, token: settings.controlPlaneToken }),
    gatewayId: settings.gatewayId,
    clock,
    scopes: () => scopesOf(config.current()),
  });
  const quotas = createQuotaKeeper({
    dir: settings.dataDir,
    limits: store,
    onFault: (error) => logger.error({ err: error }, 'the quota checkpoint failed'),
    // A store that other gateways share keeps its counters itself.
    ...(store.kind === 'memory' ? { ledger } : {}),
    onOwed: (error) =>
      error === undefined
        ? logger.info({}, 'quota counters are rebuilt from the ledger and the outbox')
        : logger.warn(
            { reason: String(error) },
            'quota counters are lost and the ledger does not answer; they hold what is on disk until it does',
          ),
  });
  const ledgerClient = createLedgerClient({ url: settings.controlPlaneUrl, token: settings.controlPlaneToken });
  const ledgerAudit = createLedgerAudit({
    limits: store,
    ledger: ledgerClient,
    gatewayId: settings.gatewayId,
    clock,
    counted: quotas.countedCalls,
    onAnswer: (error) =>
      error === undefined
        ? logger.info({}, 'quota counters are held to the ledger again')
        : logger.warn(
            { reason: String(error) },
            'the ledger does not answer; windows that are new count what this gateway knows itself until it does',
          ),
  });
  const limits = createFoundedLimits(store, ledgerAudit);
  const lateRecords = createLateRecords({
    outbox,
    limits,
    onCounted: (origin) => quotas.counted(origin.epoch, origin.sequence),
    onFault: (error) => logger.error({ err: error }, 'a call that was recorded late could not be counted'),
  });
  const config = createConfigClient({
    url: settings.controlPlaneUrl,
    token: settings.controlPlaneToken,
    gatewayId: settings.gatewayId,
    cellId: settings.cellId,
    limitStore: limits.kind,
    dataDir: settings.dataDir,
    clock,
    logger,
    ...(settings.configMaxAgeMs === undefined ? {} : { maxAgeMs: settings.configMaxAgeMs }),
    onWatermark: ({ epoch, sequence }) => outbox.acknowledge(epoch, sequence),
    ...(chaos !== undefined && { onChaos: chaos.obey }),
  });

  const publishAnomaly = createPublishAnomaly({
    gatewayId: settings.gatewayId,
    cellId: settings.cellId,
    epoch: () => outbox.epoch,
    publisher: otherEvents,
    clock,
  });
  const counters = createLiveCounters({ clock });
  const providerFigures = createProviderFigures({ clock });
  const refusals = createRefusalAnomalies({
    gatewayId: settings.gatewayId,
    cellId: settings.cellId,
    publisher: otherEvents,
    clock,
  });
  const keyRefusals = createKeyRefusals({
    gatewayId: settings.gatewayId,
    epoch: () => outbox.epoch,
    publisher: otherEvents,
    clock,
  });
  const upstream = composeUpstream({ clock, logger, metrics, currentConfig: () => config.current(), publishAnomaly });
  const { capacity, breakers, onAccount } = upstream;
  const gatewayMetrics = createGatewayMetrics(metrics, {
    inFlight: () => server.inFlight,
    configAgeMs: () => config.ageMs,
    limitsExact: () => limits.status.state === 'connected',
    outbox: () => outbox.stats,
    droppedEvents: () => otherEvents.dropped + refusals.dropped,
  });
  const estimator = createEstimator();
  const secrets = createSecretResolver(env, settings.secretsDir, settings.secretBox);
  const transport = createTransport();
  const adapters = createAdapterRegistry().get;
  const bodies = createBodyPool({
    clock: systemClock,
    onJob: gatewayMetrics.recordBodyJob,
    onLost: gatewayMetrics.recordLostWorker,
  });
  const planner = createPlanner({ adapters });
  const routing = createLearnedRouting({ settings, clock, logger, metrics, ids, planner });
  const pipeline = pipelineOf({
    authenticate: createAuthenticateStage({
      clock,
      onRefusedKey: keyRefusals.record,
      findPerson:
        settings.principalKey === undefined
          ? undefined
          : createFindPerson({ principalKey: settings.principalKey, clock }),
    }),
    place: createPlaceStage({ baseDomain: settings.baseDomain, cellId: settings.cellId }),
    read_body: createReadBodyStage({ clock, adapters, bodies, lookAhead: createLookAhead({ limits }) }),
    resolve: createResolveStage({ clock, planner }),
    idempotency: createIdempotencyStage(),
    cache: createCacheStage(),
    admit: createAdmitStage({ limits, estimator, outbox, retrySlots: createRetrySlots({ clock }) }),
    route: routing.stage,
    attempt: createCountingAttemptStage({
      clock,
      limits,
      outbox,
      adapters,
      transport,
      bodies,
      breakers,
      capacity,
      secrets,
      random: Math.random,
      retryBudget: createRetryBudgets({ clock }),
      onRecordFault: (call, error) =>
        logger.error({ err: error, request_id: call.id }, 'the start of a call could not be recorded'),
      onAccount,
      onUnknownModel: upstream.onUnknownModel,
      onPassed: upstream.metrics.passed,
      onRetry: upstream.metrics.retried,
    }),
    relay: createRelayStage({
      limits,
      estimator,
      onTopUpFault: (call, error) =>
        logger.error({ err: error, request_id: call.id }, 'the reservation of a stream could not be topped up'),
    }),
    settle: createSettleStage({
      clock,
      limits,
      outbox,
      estimator,
      recordLater: lateRecords.add,
      onCounted: (origin) => quotas.counted(origin.epoch, origin.sequence),
      report: createCallReport({
        clock,
        log: callLog,
        counters,
        providers: providerFigures,
        anomalies: refusals,
        quotaAlerts: createQuotaAlerts(publishAnomaly),
        metrics: gatewayMetrics,
        usageAlerts: createUsageAlerts({ clock, publish: publishAnomaly }),
      }),
    }),
  });

  const spend = createSpendSource({ url: settings.controlPlaneUrl, token: settings.controlPlaneToken, clock });
  let recovered = false;
  const currentConfig = () => (recovered ? config.current() : undefined);
  const healthProbes = createHealthProbes({
    clock,
    currentConfig,
    adapters,
    transport,
    breakers,
    capacity,
    secrets,
    onAccount,
    onResult: upstream.metrics.probed,
  });
  const server = createGatewayServer({
    pipeline,
    otherRoutes: asOtherRoutes(
      createApp({
        currentConfig,
        limits,
        spend,
        clock,
        ids,
        logger,
        baseDomain: settings.baseDomain,
        cellId: settings.cellId,
      }),
    ),
    currentConfig,
    heartbeats: createHeartbeats(),
    clock,
    ids,
    childTrace: (header) => childTraceparent(parseTraceparent(header)),
    corsOrigins: settings.corsOrigins,
    onEarlyRefusal: gatewayMetrics.recordEarlyRefusal,
    onRefusedConnection: gatewayMetrics.recordRefusedConnection,
    limits: { connectionsPerNetwork: settings.connectionsPerNetwork },
    onFault: (error, call, stage) => logger.error({ err: error, request_id: call.id, stage }, 'a stage failed'),
  });
  const reporter = createReporter({
    url: settings.controlPlaneUrl,
    token: settings.controlPlaneToken,
    clock,
    logger,
    counters,
    describe: () =>
      describeGateway({
        gatewayId: settings.gatewayId,
        cellId: settings.cellId,
        startedAtMs,
        nowMs: clock.now(),
        recovered,
        server,
        config,
        limits,
        estimator,
        outbox: outbox.stats,
        upstream: {
          breakers: upstream.breakerReports(),
          pools: upstream.poolReports(),
          providers: providerFigures.report(),
          missing_secrets: missingSecrets(config.current()?.providers.values() ?? [], secrets),
        },
      }),
  });
  const admin = await startAdminServer({
    host: settings.host,
    port: settings.adminPort,
    metrics,
    ready: () => ({
      ready: recovered && !server.draining && config.refused === undefined,
      detail: {
        config_version: config.version,
        recovered,
        draining: server.draining,
        ...(config.refused === undefined ? {} : { refused: config.refused }),
      },
    }),
  });
  config.start();
  routing.snapshots.start();
  // Before the counters are back: where the disk is full, only this makes room for what recovery has to record.
  outboxPublisher.start();
  await comeBack({
    config,
    stopped: () => server.draining,
    onFault: (error) => logger.error({ err: error }, 'the first configuration could not be put in force'),
    recover: async (current) => {
      const result = await recover({
        config: current,
        outbox,
        unmatched: opened.unmatched,
        settled: opened.replay(),
        firstOnDisk: opened.firstOnDisk,
        limits,
        quotas,
        clock,
        onDiskFault: (error) =>
          logger.error({ err: error }, 'an interrupted call cannot be recorded; tried again until the disk takes it'),
      });
      recovered = true;
      logger.info({ ...result, config_version: current.version }, 'counters are in force');
      if (opened.reopened) publishAnomaly(restartAnomaly(settings.gatewayId, result.interrupted, opened.unmatched));
    },
  });
  const { url } = await server.listen(settings.port, settings.host);
  logger.info({ url, admin: admin.url, gateway_id: settings.gatewayId, epoch: outbox.epoch }, 'serving');
  for (const part of [quotas, ledgerAudit, lateRecords, refusals, keyRefusals, reporter, healthProbes]) part.start();
  const beat = async (): Promise<void> => limits.heartbeat();
  const tellHealth = createHealthAnomalies(publishAnomaly);
  const health = setInterval(() => {
    const { oldestAgeMs, pending } = outbox.stats;
    tellHealth({
      gatewayId: settings.gatewayId,
      outboxOldestAgeMs: oldestAgeMs,
      outboxPending: pending,
      outboxAccepting: outbox.accepting(),
      configAgeMs: config.ageMs,
    });
  }, HEALTH_MS);
  health.unref();
  const liveness = setInterval(
    () =>
      void beat().catch((error: unknown) => logger.error({ err: error }, 'the liveness lease could not be renewed')),
    HEARTBEAT_MS,
  );
  liveness.unref();

  return {
    async close() {
      await server.drain(settings.drainMs, DRAIN_NOTICE_MS);
      clearInterval(liveness);
      clearInterval(health);
      await reporter.close();
      await refusals.close();
      await keyRefusals.close();
      await lateRecords.close();
      await ledgerAudit.stop();
      await ledgerClient.close();
      await quotas.stop();
      await outboxPublisher.stop();
      await config.close();
      await routing.snapshots.close();
      healthProbes.close();
      bodies.close();
      await spend.close();
      await transport.close();
      await outbox.close();
      await otherEvents.close();
      await Promise.all([publisher.close(), otherPublisher.close()]);
      await limits.close();
      await admin.close();
      callLog.flush();
    },
  };
}
