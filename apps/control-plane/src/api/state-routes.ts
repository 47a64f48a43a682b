import { OperatorState } from '@sluice/contracts';
import type { OperatorSessions } from '../session/operator-sessions.ts';
import type { StateHub } from '../state/state-hub.ts';
import { operatorToken } from './authenticate.ts';
import { route, type Route } from './route.ts';

/** The live picture. */
export function stateRoutes(deps: {
  build: () => OperatorState;
  hub: StateHub;
  sessions: Pick<OperatorSessions, 'find'>;
}): Route[] {
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
      summary: 'The same each second, as server-sent events named `state`; ends with the session',
      streams: true,
      handler: ({ req, res }) => {
        const token = operatorToken(req) ?? '';
        deps.hub.serve(res, async () => (await deps.sessions.find(token)) !== undefined);
      },
    }),
  ];
}
