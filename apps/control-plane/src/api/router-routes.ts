import { z } from 'zod';
import {
  ArmsAnswer,
  DecisionsAnswer,
  DecisionsQuery,
  DriftAnswer,
  HoldDrift,
  PoliciesAnswer,
  ReplayRollout,
  RolloutAction,
  RolloutsAnswer,
  RolloutView,
  StorageAnswer,
  TenantsAnswer,
} from '@sluice/contracts';
import { actorOf, param } from './actor.ts';
import type { AuditTrail } from './ports.ts';
import type { RouterClient } from '../router/router-client.ts';
import { route, type Route, type RouteCall } from './route.ts';

/** Who acts is the signed-in operator, never what a body says. */
const Reasoned = RolloutAction.omit({ actor: true });
const Hold = HoldDrift.omit({ actor: true });
const Replay = ReplayRollout.omit({ actor: true });

/**
 * The router's own picture and its rollouts, for operators: passed on with the control plane's token and the
 * operator's name.
 */
export function routerRoutes({ router, audit }: { router: RouterClient; audit: AuditTrail }): Route[] {
  const read = (path: string, summary: string, response: z.ZodType): Route =>
    route({
      method: 'get',
      path: `/api/router/${path}`,
      auth: 'viewer',
      tag: 'Router',
      summary,
      response,
      handler: () => router.get(`/${path}`),
    });

  async function act(
    call: RouteCall<unknown, unknown>,
    path: string,
    type: string,
    id: string,
    body: object,
    kind = 'rollout',
  ): Promise<unknown> {
    await audit.record({ type, actor: actorOf(call), target: { kind, id }, after: body });
    return router.post(path, { ...body, actor: { kind: 'person', id: call.operator?.user ?? 'unknown' } });
  }

  return [
    read('arms', 'Models with quality, cost and confidence, and the frontier', ArmsAnswer),
    read('drift', 'Whether features, mix of models or rewards have moved', DriftAnswer),
    read('storage', 'How much of its log the router keeps', StorageAnswer),
    read('tenants', 'Difficulty and pressure of tenants', TenantsAnswer),
    read('policies', 'Policies of the router', PoliciesAnswer),
    read('rollouts', 'Rollouts with their evidence over time', RolloutsAnswer),
    route({
      method: 'get',
      path: '/api/router/decisions',
      auth: 'viewer',
      tag: 'Router',
      summary: 'Recent decisions with their explanations',
      query: DecisionsQuery,
      response: DecisionsAnswer,
      handler: ({ query: { limit, tenant } }) =>
        router.get(
          `/decisions?${new URLSearchParams({ limit: String(limit), ...(tenant === undefined ? {} : { tenant }) })}`,
        ),
    }),
    ...(['start', 'abort', 'reset'] as const).map((action) =>
      route({
        method: 'post',
        path: `/api/router/rollouts/:id/${action}`,
        auth: 'operator',
        tag: 'Router',
        summary: `${action.charAt(0).toUpperCase()}${action.slice(1)} a rollout, with a reason`,
        body: Reasoned,
        response: RolloutView,
        handler: (call) =>
          act(
            call,
            `/rollouts/${encodeURIComponent(param(call, 'id'))}/${action}`,
            `rollout.${action}`,
            param(call, 'id'),
            call.body,
          ),
      }),
    ),
    route({
      method: 'post',
      path: '/api/router/drift/hold',
      auth: 'operator',
      tag: 'Router',
      summary: 'Keeps the reactions to drift at a step, with a reason',
      body: Hold,
      response: DriftAnswer,
      handler: (call) => act(call, '/drift/hold', 'drift.hold', 'drift', call.body, 'router'),
    }),
    route({
      method: 'post',
      path: '/api/router/drift/release',
      auth: 'operator',
      tag: 'Router',
      summary: 'Gives the reactions to drift back to the detectors, with a reason',
      body: Reasoned,
      response: DriftAnswer,
      handler: (call) => act(call, '/drift/release', 'drift.release', 'drift', call.body, 'router'),
    }),
    route({
      method: 'post',
      path: '/api/router/replay',
      auth: 'operator',
      tag: 'Router',
      summary: 'A rollout on simulated decisions by a faster clock; reaches no gateway',
      body: Replay,
      response: z.unknown(),
      handler: (call) => act(call, '/rollouts/replay', 'rollout.replay', 'replay', call.body),
    }),
  ];
}
