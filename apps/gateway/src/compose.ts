import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_SCHEMA, systemClock, type Anomaly, type GatewayReport } from '@sluice/contracts';
import { createEventQueue, createOutboxPublisher, createSnsPublisher, createSpineClients, openOutbox } from '@sluice/events';
import { createAdapterRegistry, createTransport } from '@sluice/providers';
import { createRetryBudget, type RetryBudget } from '@sluice/resilience';
import { childTraceparent, createIds, createLogger, createMetrics, parseTraceparent, startAdminServer, type Logger } from '@sluice/service-kit';
import { createConfigClient } from './config/config-client.ts';
import type { GatewaySettings } from './environment.ts';
import { createHeartbeats } from './http/heartbeats.ts';
import { createGatewayServer } from './http/server.ts';
import { createLimits } from './metering/limits.ts';
import { createEstimator } from './metering/estimator.ts';
import { createFetchQuotaUse, createLedgerUse, scopesOf } from './metering/ledger-use.ts';
import { createQuotaKeeper } from './metering/quota-keeper.ts';
import { recover } from './metering/recover.ts';
import { pipelineOf } from './pipeline.ts';
import { createCallReport } from './report/call-report.ts';
import { createGatewayMetrics } from './report/gateway-metrics.ts';
import { accountAnomaly, breakerAnomaly } from './report/upstream-anomalies.ts';
import { createUpstreamMetrics } from './report/upstream-metrics.ts';
import { createHealthAnomalies } from './report/health-anomalies.ts';
import { createKeyRefusals } from './report/key-refusals.ts';
import { createLiveCounters } from './report/live-counters.ts';
import { createRefusalAnomalies } from './report/refusal-anomalies.ts';
import { createQuotaAlerts } from './report/quota-alerts.ts';
import { createReporter } from './report/reporter.ts';
import { asOtherRoutes, createApp } from './routes/app.ts';
import { createSpendSource } from './routes/spend.ts';
import { createAdmitStage } from './stages/admit/admit.ts';
import { createCountingAttemptStage } from './stages/attempt/count-tokens.ts';
import type { AccountChange } from './stages/attempt/send-attempt.ts';
import { createAuthenticateStage } from './stages/authenticate/authenticate.ts';
import { createCacheStage } from './stages/cache/cache.ts';
import { createIdempotencyStage } from './stages/idempotency/idempotency.ts';
import { createPlaceStage } from './stages/place/place.ts';
import { createReadBodyStage } from './stages/read-body/read-body.ts';
import { createRelayStage } from './stages/relay/relay.ts';
import { createResolveStage } from './stages/resolve/resolve.ts';
import { createPlanner } from './stages/route/planner.ts';
import { createRouteStage } from './stages/route/route.ts';
import { createSettleStage } from './stages/settle/settle.ts';
import { createBreakers } from './upstream/breakers.ts';
import { createCapacity } from './upstream/capacity.ts';
import { createHealthProbes } from './upstream/health-probes.ts';
import { createSecretResolver, missingSecrets } from './upstream/secrets.ts';

/** How long a boot without a saved configuration waits for the control plane before it opens its port all the same. */
const FIRST_CONFIG_MS = 15_000;
/** How long a boot with a saved configuration waits to hear whether it may serve. */
const FIRST_ANSWER_MS = 2_000;
const REFUSED_RETRY_MS = 500;
const HEARTBEAT_MS = 3_000;
const HEALTH_MS = 1_000;
/** Workspaces whose estimate errors are reported. */
const REPORTED_ESTIMATES = 50;

/**
 * Builds the gateway from its parts and opens its ports: configuration from disk or stream, quota counters, the calls
 * that a killed process left open, and only then the first admission.
 */
export async function composeGateway(settings: GatewaySettings, logger: Logger, env: Readonly<Record<string, string | undefined>>): Promise<{ close(): Promise<void> }> {
  const clock = systemClock;
  const startedAtMs = clock.now();
  const ids = createIds({ clock });
  const callLog = createLogger({ service: 'gateway', level: settings.logLevel, highVolume: true });
  const metrics = createMetrics({ service: 'gateway', processMetrics: true });
  const limits = createLimits(settings, clock, logger);
  const spine = () => createSpineClients({ ...(settings.spineEndpoint === undefined ? {} : { endpoint: settings.spineEndpoint }), ...(settings.awsAccount === undefined ? {} : { account: settings.awsAccount }), region: settings.region });
  const publisher = createSnsPublisher({ spine: spine(), logger });
  // Connections of their own: what is not usage may be dropped and must not hold usage up.
  const otherPublisher = createSnsPublisher({ spine: spine(), logger });
  const otherEvents = createEventQueue({ publisher: otherPublisher, logger });
  const opened = openOutbox({
    dir: join(settings.dataDir, 'outbox'),
    gatewayId: settings.gatewayId,
    clock,
    maxBytes: settings.outboxMaxBytes,
    maxAgeMs: settings.outboxMaxAgeMs,
    workspaceShare: settings.outboxWorkspaceShare,
    fsyncIntervalMs: settings.outboxFsyncMs,
    atBound: settings.outboxAtBound,
    logger,
  });
  const { outbox } = opened;
  const outboxPublisher = createOutboxPublisher({ outbox, publisher, clock, logger, ledgerConnected: () => config.connected });
  const ledger = createLedgerUse({
    fetch: createFetchQuotaUse({ url: settings.controlPlaneUrl, token: settings.controlPlaneToken }),
    gatewayId: settings.gatewayId,
    clock,
    scopes: () => scopesOf(config.current()),
  });
  const quotas = createQuotaKeeper({
    dir: settings.dataDir,
    limits,
    onFault: (error) => logger.error({ err: error }, 'the quota checkpoint failed'),
    // A store that other gateways share keeps its counters itself.
    ...(limits.kind === 'memory' ? { ledger } : {}),
    onOwed: (error) =>
      error === undefined
        ? logger.info({}, 'quota counters are rebuilt from the ledger and the outbox')
        : logger.warn({ reason: String(error) }, 'quota counters are lost and the ledger does not answer; they hold what is on disk until it does'),
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
    ...(settings.chaos && { onKill: () => process.kill(process.pid, 'SIGKILL') }),
  });

  let anomalyCount = 0;
  const publishAnomaly = (anomaly: Pick<Anomaly, 'type' | 'subject' | 'message' | 'samples'> & Partial<Pick<Anomaly, 'level' | 'tenant_id' | 'workspace'>>): void => {
    anomalyCount += 1;
    const event: Anomaly = {
      schema: EVENT_SCHEMA,
      event_id: `${settings.gatewayId}.${outbox.epoch}.anomaly.${anomalyCount}`,
      occurred_at: new Date(clock.now()).toISOString(),
      gateway_id: settings.gatewayId,
      cell_id: settings.cellId,
      count: 1,
      ...anomaly,
    };
    const attributes = { type: event.type, ...(event.tenant_id === undefined ? {} : { tenant_id: event.tenant_id }) };
    void otherEvents.publish([{ id: event.event_id, topic: 'anomaly-events', body: JSON.stringify(event), attributes }]);
  };

  const counters = createLiveCounters({ clock });
  const refusals = createRefusalAnomalies({ gatewayId: settings.gatewayId, cellId: settings.cellId, publisher: otherEvents, clock });
  const keyRefusals = createKeyRefusals({ gatewayId: settings.gatewayId, epoch: () => outbox.epoch, publisher: otherEvents, clock });
  const capacity = createCapacity({ clock });
  /** Of what is still configured; a provider or model that was taken out leaves the picture. */
  const breakerReports = () => breakers.report().filter(({ provider, model }) => config.current()?.providers.has(provider) === true && config.current()?.models.has(model) === true);
  const poolReports = () =>
    capacity.report().filter((pool) => config.current()?.providers.get(pool.provider)?.credentials.some(({ id }) => id === pool.credential) === true);
  const upstreamMetrics = createUpstreamMetrics(metrics, { breakers: breakerReports, pools: poolReports });
  const breakers = createBreakers({
    clock,
    onChange: ({ provider, model, from, to }) => {
      logger.warn({ provider, model, from, to }, 'a breaker changed its state');
      upstreamMetrics.breakerChanged(provider, model, to);
      if (to === 'half_open') return;
      publishAnomaly(breakerAnomaly({ provider, model, to }));
    },
  });
  const gatewayMetrics = createGatewayMetrics(metrics, {
    inFlight: () => server.inFlight,
    configAgeMs: () => config.ageMs,
    limitsExact: () => limits.status.state === 'connected',
    outbox: () => outbox.stats,
    droppedEvents: () => otherEvents.dropped + refusals.dropped,
  });
  const onAccount = (change: AccountChange): void => {
    const { to, requestId, ...account } = change;
    if (to === 'accepted') logger.info({ request_id: requestId, ...account }, 'a provider accepts our account again');
    else {
      logger.error({ request_id: requestId, ...account }, 'a provider account cannot be used');
      publishAnomaly(accountAnomaly(change));
    }
  };
  const registry = createAdapterRegistry();
  const estimator = createEstimator();
  const budgets = new Map<string, RetryBudget>();
  const retryBudget = (provider: string): RetryBudget => {
    let budget = budgets.get(provider);
    if (budget === undefined) budgets.set(provider, (budget = createRetryBudget({ clock })));
    return budget;
  };
  const secrets = createSecretResolver(env, settings.secretsDir);
  const transport = createTransport();
  const adapters = registry.get;
  const pipeline = pipelineOf({
    authenticate: createAuthenticateStage({ clock, onRefusedKey: keyRefusals.record }),
    place: createPlaceStage({ baseDomain: settings.baseDomain, cellId: settings.cellId }),
    read_body: createReadBodyStage({ clock }),
    resolve: createResolveStage({ clock, planner: createPlanner({ adapters }) }),
    idempotency: createIdempotencyStage(),
    cache: createCacheStage(),
    admit: createAdmitStage({ limits, estimator, outbox }),
    route: createRouteStage(),
    attempt: createCountingAttemptStage({
      clock,
      limits,
      outbox,
      adapters,
      transport,
      breakers,
      capacity,
      secrets,
      random: Math.random,
      retryBudget,
      onRecordFault: (call, error) => logger.error({ err: error, request_id: call.id }, 'the start of a call could not be recorded'),
      onAccount,
      onPassed: upstreamMetrics.passed,
      onRetry: upstreamMetrics.retried,
    }),
    relay: createRelayStage({
      limits,
      estimator,
      onTopUpFault: (call, error) => logger.error({ err: error, request_id: call.id }, 'the reservation of a stream could not be topped up'),
    }),
    settle: createSettleStage({
      clock,
      limits,
      outbox,
      estimator,
      onCounted: (origin) => quotas.counted(origin.epoch, origin.sequence),
      report: createCallReport({
        clock,
        logger: callLog,
        counters,
        anomalies: refusals,
        quotaAlerts: createQuotaAlerts(publishAnomaly),
        metrics: gatewayMetrics,
      }),
    }),
  });

  const spend = createSpendSource({ url: settings.controlPlaneUrl, token: settings.controlPlaneToken, clock });
  let recovered = false;
  const currentConfig = () => (recovered ? config.current() : undefined);
  const healthProbes = createHealthProbes({ clock, currentConfig, adapters, transport, breakers, capacity, secrets, onAccount, onResult: upstreamMetrics.probed });
  const server = createGatewayServer({
    pipeline,
    otherRoutes: asOtherRoutes(createApp({ currentConfig, limits, spend, clock, ids, logger, baseDomain: settings.baseDomain, cellId: settings.cellId })),
    currentConfig,
    heartbeats: createHeartbeats(),
    clock,
    ids,
    childTrace: (header) => childTraceparent(parseTraceparent(header)),
    corsOrigins: settings.corsOrigins,
    onEarlyRefusal: gatewayMetrics.recordEarlyRefusal,
    onFault: (error, call, stage) => logger.error({ err: error, request_id: call.id, stage }, 'a stage failed'),
  });
  const reporter = createReporter({ url: settings.controlPlaneUrl, token: settings.controlPlaneToken, clock, logger, counters, describe });

  function describe(): Omit<GatewayReport, 'seconds'> {
    const { stats } = outbox;
    return {
      gateway_id: settings.gatewayId,
      cell_id: settings.cellId,
      pid: process.pid,
      started_at_ms: startedAtMs,
      at_ms: clock.now(),
      state: server.draining ? 'draining' : recovered ? 'serving' : 'starting',
      config_version: config.version,
      config_connected: config.connected,
      config_age_ms: config.ageMs,
      store: limits.kind === 'memory' ? 'memory' : limits.status.state === 'connected' ? 'valkey' : 'valkey_local_share',
      estimates: estimator.errors(REPORTED_ESTIMATES).map(({ workspace, calls, uncalibratedPercent, calibratedPercent }) => ({
        workspace,
        calls,
        uncalibrated_percent: uncalibratedPercent,
        calibrated_percent: calibratedPercent,
      })),
      outbox: {
        epoch: stats.epoch,
        last_sequence: stats.lastSequence,
        published_sequence: stats.publishedSequence,
        acked_sequence: stats.ackedSequence,
        pending: stats.pending,
        oldest_age_ms: stats.oldestAgeMs,
        bytes: stats.bytes,
        segments: stats.segments,
      },
      rss_bytes: process.memoryUsage.rss(),
      in_flight: server.inFlight,
      breakers: breakerReports(),
      pools: poolReports(),
      missing_secrets: missingSecrets(config.current()?.providers.values() ?? [], secrets),
    };
  }

  const admin = await startAdminServer({
    host: settings.host,
    port: settings.adminPort,
    metrics,
    ready: () => ({ ready: recovered && !server.draining && config.refused === undefined, detail: { config_version: config.version, recovered, draining: server.draining, ...(config.refused === undefined ? {} : { refused: config.refused }) } }),
  });
  config.start();
  // Before the counters are back: where the disk is full, only this makes room for what recovery has to record.
  outboxPublisher.start();
  const bringBack = async (): Promise<void> => {
    const current = config.current();
    if (current === undefined) return;
    const result = await recover({ config: current, outbox, unmatched: opened.unmatched, settled: opened.replay(), firstOnDisk: opened.firstOnDisk, limits, quotas, clock, onDiskFault: (error) => logger.error({ err: error }, 'an interrupted call cannot be recorded; tried again until the disk takes it') });
    recovered = true;
    logger.info({ ...result, config_version: current.version }, 'counters are in force');
    if (opened.reopened) {
      publishAnomaly({
        type: 'gateway.restarted',
        subject: settings.gatewayId,
        message: `Gateway ${settings.gatewayId} restarted; ${result.interrupted} ${result.interrupted === 1 ? 'call was' : 'calls were'} interrupted.`,
        samples: opened.unmatched.slice(0, 5).map((started) => started.request_id),
      });
    }
  };
  const waitForConfig = async (): Promise<void> => {
    while (!recovered && !server.draining) {
      await sleep(REFUSED_RETRY_MS);
      if (await config.ready(FIRST_CONFIG_MS)) await bringBack();
    }
  };
  // The saved configuration would do at once, but the control plane may know that another gateway serves the cell.
  if (await config.ready(FIRST_CONFIG_MS)) await config.tried(FIRST_ANSWER_MS);
  await bringBack();
  if (!recovered) void waitForConfig().catch((error: unknown) => logger.error({ err: error }, 'the first configuration could not be put in force'));
  const { url } = await server.listen(settings.port, settings.host);
  logger.info({ url, admin: admin.url, gateway_id: settings.gatewayId, epoch: outbox.epoch }, 'serving');
  quotas.start();
  refusals.start();
  keyRefusals.start();
  reporter.start();
  healthProbes.start();
  const beat = async (): Promise<void> => limits.heartbeat();
  const tellHealth = createHealthAnomalies(publishAnomaly);
  const health = setInterval(() => {
    const { oldestAgeMs, pending } = outbox.stats;
    tellHealth({ gatewayId: settings.gatewayId, outboxOldestAgeMs: oldestAgeMs, outboxPending: pending, outboxAccepting: outbox.accepting(), configAgeMs: config.ageMs });
  }, HEALTH_MS);
  health.unref();
  const liveness = setInterval(() => void beat().catch((error: unknown) => logger.error({ err: error }, 'the liveness lease could not be renewed')), HEARTBEAT_MS);
  liveness.unref();

  return {
    async close() {
      await server.drain(settings.drainMs);
      clearInterval(liveness);
      clearInterval(health);
      await reporter.close();
      await refusals.close();
      await keyRefusals.close();
      await quotas.stop();
      await outboxPublisher.stop();
      await config.close();
      healthProbes.close();
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
