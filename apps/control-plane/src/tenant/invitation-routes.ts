import { z } from 'zod';
import { InvitationView, Slug } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { actorOf, param } from '../api/actor.ts';
import { cutPage, PAGE_FIELDS, pageOf, readCursor } from '../api/paging.ts';
import { route, type Route } from '../api/route.ts';
import type { Members } from '../session/members.ts';

/** Open invitations of all workspaces, for operators: to see who is expected, and to take one back. */
export function invitationRoutes({ members }: { members: Members }): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/invitations',
      auth: 'viewer',
      tag: 'Users',
      summary: 'Who is invited to a workspace and has not come yet; never the secret',
      query: z.strictObject({ ...PAGE_FIELDS, workspace: Slug.optional() }),
      response: pageOf(InvitationView),
      handler: async ({ query }) =>
        cutPage(
          await members.openInvitations({
            workspace: query.workspace,
            after: readCursor(query.cursor),
            limit: query.limit + 1,
          }),
          query.limit,
        ),
    }),
    route({
      method: 'delete',
      path: '/api/invitations/:id',
      auth: 'admin',
      tag: 'Users',
      summary: 'Take an invitation back',
      status: 204,
      handler: async (call) => {
        if (!(await members.takeBack(param(call, 'id'), actorOf(call)))) throw new ProblemError(404, 'Not found');
      },
    }),
  ];
}
