import { OperatorState } from '@sluice/contracts';
import type { StateHub } from '../state/state-hub.ts';
import { route, type Route } from './route.ts';

/** The live picture. */
export function stateRoutes(deps: { build: () => OperatorState; hub: StateHub }): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/state',
      auth: 'viewer',
      tag: 'State',
      summary: 'The whole live picture',
      response: OperatorState,
      handler: () => deps.build(),
    }),
    route({
      method: 'get',
      path: '/api/state/stream',
      auth: 'viewer',
      tag: 'State',
      summary: 'The same each second, as server-sent events named `state`',
      streams: true,
      handler: ({ res }) => deps.hub.serve(res),
    }),
  ];
}
