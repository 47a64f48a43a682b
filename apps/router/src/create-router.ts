import type { RequestListener } from 'node:http';
import { errorWords, type Clock, type EventHandler, type EventPublisher } from '@sluice/contracts';
import { createSignalTable, type ReactionStep, type TenantSignalsState } from '@sluice/routing';
import { createIds, createPartyRates, type Logger, type Metrics } from '@sluice/service-kit';
import type { RouterConfig } from './config/router-config.ts';
import { createRouterApp } from './create-router-app.ts';
import { createRecentRequests } from './decide/recent-requests.ts';
import { createRouteDecider } from './decide/route-decider.ts';
import { createDriftReactor } from './drift/drift-reactor.ts';
import { createFeatureDrift } from './drift/feature-drift.ts';
import { createFindCaller } from './http/caller.ts';
import { createHotRoutes } from './http/hot-routes.ts';
import { createCallAverages, type ModelAverages } from './learn/call-averages.ts';
import { createFeedback } from './learn/feedback.ts';
import { createPolicyDesk } from './learn/policy-desk.ts';
import { createPublisher } from './learn/publisher.ts';
import { settleDue } from './learn/reward-deadline.ts';
import { createRetention, RETENTION_DEFAULT, type RetentionRule } from './learn/retention.ts';
import { createRolloutGuard } from './learn/rollout-guard.ts';
import { createRouterKeeper } from './learn/router-keeper.ts';
import { createWaitingLog } from './learn/waiting-log.ts';
import { createReplays } from './rollout/replay.ts';
import { createRouterMetrics } from './router-metrics.ts';
import { createHotHandlers } from './routes/hot-handlers.ts';
import { createRefusalHandler, createUsageHandler } from './signals/usage-handler.ts';
import type { RouterStore, Changes } from './store/router-store.ts';

/** An idempotent request finds its decision again for so long. */
const REQUESTS_FOR_MS = 10 * 60_000;

interface SoftState {
  readonly signals: readonly (readonly [string, TenantSignalsState])[];
  readonly averages: readonly (readonly [string, ModelAverages])[];
  /** Newest step of the reactions to drift that was published. */
  readonly driftPublished?: number;
}

export interface RouterDeps {
  readonly store: RouterStore;
  /** Makes the store usable; called until it succeeds. */
  readonly prepareStore: () => Promise<void>;
  readonly config: () => RouterConfig | undefined;
  readonly token: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly random?: () => number;
  readonly rewardTimeoutMs: number;
  readonly defaultReward?: number | undefined;
  /** Decisions that may wait for the store. */
  readonly maxWaiting?: number;
  /** Decisions and items of feedback of one tenant per second; 500 when absent. Twice as many at once. */
  readonly tenantPerSecond?: number | undefined;
  readonly feedbackWaitMs?: number;
  /** The highest step of the reactions to drift that is taken by itself; `watching`, none, when absent. */
  readonly driftReactions?: ReactionStep;
  /** How long decisions and journal are kept. */
  readonly retention?: RetentionRule;
  /** Where their steps are published as audit events. */
  readonly events?: Pick<EventPublisher, 'publish'> | undefined;
}

export interface Router {
  readonly listener: RequestListener;
  readonly usage: EventHandler;
  readonly refusals: EventHandler;
  /** Everything that is due: new models, deadlines, hard limits, a new snapshot, soft state. Called each second. */
  tick(): Promise<void>;
  readonly ready: { readonly ready: boolean; readonly detail: object };
  /** Resolves when the state was loaded and a first snapshot is published. */
  readonly loaded: Promise<void>;
  close(): Promise<void>;
}

/** The whole router but for its sockets and queues. */
export function createRouter(deps: RouterDeps): Router {
  const { store, clock, logger, config } = deps;
  const ids = createIds({ clock });
  const keeper = createRouterKeeper({
    store,
    prepare: deps.prepareStore,
    clock,
    requestsForMs: REQUESTS_FOR_MS,
    logger,
  });
  const log = createWaitingLog({
    store: (rows) => store.commit({ decisions: rows }),
    logger,
    ...(deps.maxWaiting === undefined ? {} : { maxWaiting: deps.maxWaiting }),
  });
  const signals = createSignalTable();
  const averages = createCallAverages();
  const drift = createFeatureDrift();
  const reactor = createDriftReactor({
    keeper,
    drift,
    names: () => publisher.current?.compiled.extractor.names,
    highest: deps.driftReactions ?? 'watching',
    publisher: deps.events,
    clock,
    logger,
    onStep: (step) => figures.reacted(step),
  });
  const retention = createRetention({
    store,
    state: () => keeper.state,
    clock,
    rule: deps.retention ?? RETENTION_DEFAULT,
    rewardTimeoutMs: deps.rewardTimeoutMs,
    onPruned: (table, rows) => figures.pruned(table, rows),
  });
  const guard = createRolloutGuard();
  const replays = createReplays();
  const requests = createRecentRequests({ ttlMs: REQUESTS_FOR_MS });
  const publisher = createPublisher({
    clock,
    ids,
    state: () => keeper.state,
    signals,
    averages,
    onPublished: (snapshot) => void store.commit({ snapshot }).catch(() => undefined),
  });
  const figures = createRouterMetrics(deps.metrics, {
    log,
    signals,
    state: () => keeper.state,
    current: () => publisher.current,
    stored: () => retention.figures,
    nowMs: () => clock.now(),
  });

  const perSecond = deps.tenantPerSecond ?? 500;
  const shares = createPartyRates({ clock, perSecond, burst: 2 * perSecond });
  const decide = createRouteDecider({
    shares,
    clock,
    ids,
    config,
    log,
    requests,
    random: deps.random ?? Math.random,
    snapshot: () => publisher.current?.compiled,
    rewardTimeoutMs: deps.rewardTimeoutMs,
    onDecided: (row) => {
      figures.decided(row);
      drift.add(row.decision);
    },
    onRefused: figures.refused,
  });
  const takeFeedback = createFeedback({
    store,
    keeper,
    log,
    clock,
    ...(deps.feedbackWaitMs === undefined ? {} : { waitMs: deps.feedbackWaitMs }),
  });
  const findCaller = createFindCaller({ token: deps.token, config, clock });
  const desk = createPolicyDesk({ keeper, ids });
  const { app, close: closeApp } = createRouterApp({
    logger,
    token: deps.token,
    clock,
    ids,
    findCaller,
    store,
    keeper,
    log,
    desk,
    publisher,
    replays,
    guard,
    drift,
    reactor,
    retention,
    signals,
    averages,
  });
  const hot = createHotHandlers({
    shares,
    decide,
    takeFeedback: async (items, caller) => {
      const results = await takeFeedback(items, caller);
      for (const { status } of results) figures.feedback(status);
      return results;
    },
  });

  const loaded = keeper.loaded.then(({ soft, requests: saved }) => {
    const kept = soft as SoftState | undefined;
    signals.restore(kept?.signals ?? []);
    averages.restore(kept?.averages ?? []);
    reactor.published = kept?.driftPublished ?? 0;
    for (const { workspace, request, decision, expiresAtMs, atMs } of saved) {
      if (request !== undefined)
        requests.add(workspace, request.id, {
          digest: request.digest,
          atMs,
          facts: {
            decision,
            provider: undefined,
            expiresAtMs,
            dryRun: false,
            signals: { difficulty: 0, pressure: 0, budgetUsed: 0 },
          },
        });
    }
    publish();
  });
  loaded.catch(() => undefined);

  function publish(): void {
    if (publisher.publish()) figures.published();
  }

  const softState = (): SoftState => ({
    signals: signals.state,
    averages: averages.state,
    driftPublished: reactor.published,
  });

  let pruning: Promise<void> | undefined;

  /** Nothing that is due each second waits for counting and deleting. */
  function prune(): void {
    pruning ??= retention
      .tick()
      .catch((error: unknown) =>
        logger.warn({ reason: errorWords(error) }, 'old decisions could not be deleted; it is tried again'),
      )
      .finally(() => (pruning = undefined));
  }

  async function seeNewModels(): Promise<void> {
    const fresh = (config()?.chatModels ?? []).filter((id) => keeper.state?.arms.has(id) === false);
    if (fresh.length === 0) return;
    const models = fresh.map((id) => ({ id, tier: config()?.models.get(id)?.tier ?? 0 }));
    await keeper.record(() => ({ bodies: [{ kind: 'models_seen', models }] }));
  }

  async function guardRollout(): Promise<void> {
    const running = keeper.state?.running;
    if (running === undefined) return;
    guard.enter(running.id, running.stage);
    const breached = guard.limits.find((limit) => limit.breached);
    if (breached === undefined) return;
    const reason = `${breached.name} is ${breached.candidate.toPrecision(4)}, more than ${breached.limit.toPrecision(4)}, after ${breached.samples} calls`;
    await keeper.record(() => ({ bodies: [{ kind: 'rollout_breached', id: running.id, actor: 'system', reason }] }));
  }

  return {
    listener: createHotRoutes({
      routes: hot,
      findCaller,
      shares,
      ids,
      logger,
      rest: app as unknown as RequestListener,
    }),
    usage: createUsageHandler({
      signals,
      averages,
      commit: (changes: Changes) => keeper.loaded.then(() => store.commit(changes)),
      rewardTimeoutMs: deps.rewardTimeoutMs,
      onCall: (decision, { outcome, totalMs, costNanoUsd }) => {
        const running = keeper.state?.running;
        if (running === undefined || decision.rollout?.id !== running.id || decision.rollout.stage !== running.stage)
          return;
        guard.enter(running.id, running.stage);
        guard.add(decision.rollout.variant, {
          failed: outcome === 'upstream_error' || outcome === 'timeout' || outcome === 'internal_error',
          totalMs,
          costNanoUsd,
        });
      },
      onDecision: (row) => {
        figures.decided(row);
        if (row.decision.features.length > 0) drift.add(row.decision);
      },
    }),
    refusals: createRefusalHandler(signals),
    tick: async () => {
      figures.read();
      if (keeper.state === undefined) return;
      try {
        await seeNewModels();
        await guardRollout();
        while ((await settleDue({ store, keeper, clock, defaultReward: deps.defaultReward })) > 0);
        await reactor.tick();
        await store.commit({ soft: softState() });
      } catch (error) {
        logger.warn({ reason: errorWords(error) }, 'the store is away; deciding by what is known');
        return publish();
      }
      publish();
      prune();
    },
    get ready() {
      const state = keeper.state;
      return {
        ready: state !== undefined && config() !== undefined,
        detail: {
          learning: state !== undefined,
          store: store.kind,
          configured: config() !== undefined,
          seq: state?.seq ?? null,
          snapshot_id: publisher.current?.compiled.snapshot.snapshot_id ?? null,
          log_waiting: log.waiting,
          stored: retention.view,
          drift: reactor.step,
        },
      };
    },
    loaded,
    close: async () => {
      closeApp();
      await pruning;
      await replays.close();
      await log
        .close()
        .catch((error: unknown) =>
          logger.error({ waiting: log.waiting, err: error }, 'decisions could not be stored before the end'),
        );
      await keeper.close();
      if (keeper.state !== undefined) await store.commit({ soft: softState() }).catch(() => undefined);
      await store.close();
    },
  };
}
