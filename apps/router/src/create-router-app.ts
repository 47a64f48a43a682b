import type { Express, RequestHandler } from 'express';
import {
  CreatePolicy,
  CreateRollout,
  DecisionsQuery,
  EvaluatePolicy,
  HoldDrift,
  ReleaseDrift,
  ReplayRollout,
  RolloutAction,
  type Clock,
  type DriftAnswer,
  type TenantProfileView,
} from '@sluice/contracts';
import { compilePolicy, type SignalTable, type TenantProfile } from '@sluice/routing';
import {
  createApp,
  finishApp,
  parseBody,
  parseQuery,
  ProblemError,
  requireServiceToken,
  serveOpenApi,
  type Ids,
  type Logger,
} from '@sluice/service-kit';
import { decisionView, verificationOf } from './decide/decision-view.ts';
import type { DriftReactor } from './drift/drift-reactor.ts';
import type { FeatureDrift } from './drift/feature-drift.ts';
import { armsView } from './evaluate/arms-view.ts';
import { evaluateLog } from './evaluate/evaluate-log.ts';
import type { FindCaller } from './http/caller.ts';
import { NOT_FOUND, type ProblemReply } from './http/reply.ts';
import type { CallAverages } from './learn/call-averages.ts';
import { mayRead } from './learn/feedback.ts';
import { policiesView, type PolicyDesk } from './learn/policy-desk.ts';
import type { Publisher } from './learn/publisher.ts';
import type { Retention } from './learn/retention.ts';
import type { RolloutGuard } from './learn/rollout-guard.ts';
import type { RouterKeeper } from './learn/router-keeper.ts';
import type { WaitingLog } from './learn/waiting-log.ts';
import type { Replays } from './rollout/replay.ts';
import { rolloutView } from './rollout/rollout-view.ts';
import { DecisionQuery, ROUTER_ROUTES } from './routes/route-table.ts';
import { serveSnapshots } from './routes/snapshot-routes.ts';
import { DRIFT_OPTIONS } from './state/learned-arms.ts';
import type { RouterState } from './state/router-state.ts';
import type { RouterStore } from './store/router-store.ts';

/** Decisions that the frontier is drawn over. */
const FRONTIER_DECISIONS = 200;

export interface RouterAppDeps {
  readonly logger: Logger;
  /** Token of the services that may ask. */
  readonly token: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly findCaller: FindCaller;
  readonly store: RouterStore;
  readonly keeper: Pick<RouterKeeper, 'state'>;
  readonly log: Pick<WaitingLog, 'flush'>;
  readonly desk: PolicyDesk;
  readonly publisher: Publisher;
  readonly replays: Replays;
  readonly guard: Pick<RolloutGuard, 'limits'>;
  readonly signals: Pick<SignalTable, 'profile' | 'profiles'>;
  readonly averages: Pick<CallAverages, 'of'>;
  readonly drift: Pick<FeatureDrift, 'report'>;
  readonly retention: Pick<Retention, 'view'>;
  readonly reactor: Pick<DriftReactor, 'order' | 'view'>;
}

/** The router's HTTP face but for the routes that are asked for every call. */
export function createRouterApp(deps: RouterAppDeps): { app: Express; close(): void } {
  const { logger, clock, store, desk, publisher, replays } = deps;
  const app = createApp({ logger, jsonLimit: '4mb' });
  const onlyServices = requireServiceToken({ caller: deps.token });
  app.get('/health', (_req, res) => void res.json({ status: 'ok' }));
  serveOpenApi(app, {
    title: 'Sluice router',
    description:
      'Chooses the cheapest model that is good enough, says why, learns from feedback, and rolls policies out with evidence.',
    routes: ROUTER_ROUTES,
  });
  const snapshots = serveSnapshots(app, { publisher, onlyServices });

  const state = (): RouterState => {
    const loaded = deps.keeper.state;
    if (loaded === undefined)
      throw new ProblemError(503, 'The router is not ready', {
        detail: 'What it has learned is not loaded yet.',
        headers: { 'retry-after': '2' },
      });
    return loaded;
  };
  const published = () => {
    if (publisher.current === undefined)
      throw new ProblemError(503, 'There is no snapshot yet', { headers: { 'retry-after': '2' } });
    return publisher.current.compiled;
  };
  const view = (id: string) => {
    const found = state().rollouts.get(id);
    if (found !== undefined)
      return rolloutView(found, { hard: found.life === 'running' ? deps.guard.limits : [], nowMs: clock.now() });
    const replay = replays.view(id, clock.now());
    if (replay === undefined) throw new ProblemError(404, 'Not found');
    return replay;
  };

  app.get('/decisions', onlyServices, async (req, res) => {
    const { limit, tenant } = parseQuery(DecisionsQuery, req);
    await deps.log.flush();
    res.json({ decisions: (await store.recent({ limit, tenant })).map((stored) => decisionView(stored, 'service')) });
  });
  app.get('/decisions/:id', async (req, res) => {
    const caller = deps.findCaller(req.headers);
    if (caller === undefined)
      throw new ProblemError(401, 'A service token or an API key is required', {
        headers: { 'www-authenticate': 'Bearer' },
      });
    const { verify } = parseQuery(DecisionQuery, req);
    await deps.log.flush();
    const id = String(req.params['id']);
    const stored = (await store.find([id])).get(id);
    if (stored === undefined || !mayRead(caller, stored)) throw asError(NOT_FOUND);
    const verification =
      verify === '1'
        ? {
            verification: verificationOf(
              stored,
              stored.decision.snapshot_id === undefined ? undefined : await store.snapshot(stored.decision.snapshot_id),
            ),
          }
        : {};
    res.json({ ...decisionView(stored, caller.kind), ...verification });
  });

  app.get('/arms', onlyServices, async (_req, res) => {
    const [rates, recent] = await Promise.all([store.feedbackRates(), store.recent({ limit: FRONTIER_DECISIONS })]);
    res.json(
      armsView({
        compiled: published(),
        summaries: state().arms.summaries(),
        averages: deps.averages,
        rates,
        recent: recent.map(({ decision }) => decision).filter(({ snapshot_id }) => snapshot_id !== undefined),
      }),
    );
  });

  app.get(
    '/policies',
    onlyServices,
    (_req, res) => void res.json(policiesView(state(), published().snapshot.snapshot_id)),
  );
  app.post('/policies', onlyServices, async (req, res) => {
    const order = parseBody(CreatePolicy, req);
    state();
    good(await desk.createPolicy(order));
    res
      .status(201)
      .json(
        policiesView(state(), published().snapshot.snapshot_id).policies.find(
          ({ version }) => version === order.version,
        ),
      );
  });
  app.post('/policies/:version/evaluate', onlyServices, async (req, res) => {
    const { limit, tenant, logged_by: loggedBy } = parseBody(EvaluatePolicy, req);
    const now = state();
    const version = String(req.params['version']);
    if (!now.policies.has(version)) throw new ProblemError(404, 'Not found');
    await deps.log.flush();
    const [rated, rates] = await Promise.all([store.rated({ limit, tenant, loggedBy }), store.feedbackRates()]);
    res.json(
      evaluateLog({
        policy: compilePolicy(now.publish(version)),
        rated,
        rates,
        settingsOf: (of) => now.policies.get(of)?.settings,
      }),
    );
  });

  app.get('/rollouts', onlyServices, (_req, res) => {
    const live = [...state().rollouts.keys()].map(view);
    res.json({
      rollouts: [...live, ...replays.views(clock.now())].sort((a, b) => (a.created_at < b.created_at ? 1 : -1)),
    });
  });
  app.post('/rollouts', onlyServices, async (req, res) => {
    const order = parseBody(CreateRollout, req);
    state();
    res.status(201).json(view(good(await desk.createRollout(order))));
  });
  app.post(
    '/rollouts/replay',
    onlyServices,
    (req, res) => void res.status(202).json(replays.start(parseBody(ReplayRollout, req), deps.ids.ulid(), clock.now())),
  );
  app.get('/rollouts/:id', onlyServices, (req, res) => void res.json(view(String(req.params['id']))));
  for (const action of ['start', 'abort', 'reset'] as const)
    app.post(`/rollouts/:id/${action}`, onlyServices, actOn(action));

  function actOn(action: 'start' | 'abort' | 'reset'): RequestHandler {
    return async (req, res) => {
      const order = parseBody(RolloutAction, req);
      state();
      const id = good(await desk.act(String(req.params['id']), action, order));
      publisher.publish();
      res.status(action === 'reset' ? 201 : 200).json(view(id));
    };
  }

  app.get(
    '/tenants',
    onlyServices,
    (_req, res) =>
      void res.json({
        tenants: deps.signals.profiles(clock.now()).map(([tenant, profile]) => profileView(tenant, profile)),
      }),
  );
  app.get('/tenants/:id/profile', onlyServices, (req, res) => {
    const tenant = String(req.params['id']);
    const profile = deps.signals.profile(tenant, clock.now());
    if (profile === undefined) throw new ProblemError(404, 'Nothing was heard of this tenant');
    res.json(profileView(tenant, profile));
  });
  const drift = (): DriftAnswer => {
    const rewards = state()
      .arms.summaries()
      .map(
        ({ model, rewards: n, driftStatistic, alarmedAtMs, calibration, recent }): DriftAnswer['rewards'][number] => ({
          model,
          n,
          statistic: driftStatistic,
          threshold: DRIFT_OPTIONS.threshold,
          ...(alarmedAtMs === undefined ? {} : { alarmed_at: new Date(alarmedAtMs).toISOString() }),
          calibration,
          ...(recent.n === 0
            ? {}
            : {
                recent: {
                  n: recent.n,
                  calibration: recent.mean,
                  cuts: recent.cuts,
                  ...(recent.cutAtMs === undefined ? {} : { cut_at: new Date(recent.cutAtMs).toISOString() }),
                },
              }),
        }),
      );
    return { ...deps.drift.report(published().extractor.names), reactions: deps.reactor.view(), rewards };
  };
  app.get('/drift', onlyServices, (_req, res) => void res.json(drift()));
  app.get('/storage', onlyServices, (_req, res) => void res.json(deps.retention.view));
  app.post('/drift/hold', onlyServices, async (req, res) => {
    const { step, actor, reason } = parseBody(HoldDrift, req);
    state();
    good(await deps.reactor.order({ hold: step, actor: actor.id, reason }));
    publisher.publish();
    res.json(drift());
  });
  app.post('/drift/release', onlyServices, async (req, res) => {
    const { actor, reason } = parseBody(ReleaseDrift, req);
    state();
    good(await deps.reactor.order({ actor: actor.id, reason }));
    res.json(drift());
  });

  finishApp(app, { logger });
  return { app, close: () => snapshots.close() };
}

function profileView(
  tenant: string,
  { difficulty, pressure, residualTokens, calls, arrivals, lastAtMs }: TenantProfile,
): TenantProfileView {
  return {
    tenant,
    difficulty,
    pressure,
    residual_tokens: residualTokens,
    calls,
    arrivals,
    events: arrivals,
    last_ms: lastAtMs,
  };
}

function asError({ status, title, detail, errors }: ProblemReply): ProblemError {
  return new ProblemError(status, title, {
    ...(detail === undefined ? {} : { detail }),
    ...(errors === undefined ? {} : { errors: [...errors] }),
  });
}

/** The value of what was not refused. @throws ProblemError for a refusal. */
function good<T>(value: T | ProblemReply): T {
  if (typeof value === 'object' && value !== null && 'title' in value) throw asError(value as ProblemReply);
  return value as T;
}
