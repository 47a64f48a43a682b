import { z } from 'zod';
import {
  MemberRequest,
  MembersView,
  MemberView,
  NewMemberRequest,
  NewMemberView,
  OwnInvitationsView,
  Role,
  ROLE_PERMISSIONS,
  TakeInvitationRequest,
  TakeOwnInvitationRequest,
  type Principal,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { actorOf, param } from '../api/actor.ts';
import { route, type Route, type RouteCall } from '../api/route.ts';
import type { ConfigStore } from '../config/config-store.ts';
import type { Members, MemberScope } from '../session/members.ts';
import type { People } from '../session/people.ts';
import { admit } from './admit.ts';

const PREFIX = '/internal/workspaces/:slug/members';
const instant = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

/** Members of a workspace, for its admins; and taking an invitation, for whoever has its secret. */
export function memberRoutes({
  store,
  members,
  people,
}: {
  store: ConfigStore;
  members: Members;
  people: People;
}): Route[] {
  function scopeOf(call: RouteCall<unknown, unknown>): MemberScope & { readonly userId: string } {
    const { workspace, tenant, principal } = admit(store, call, 'members:write');
    const siblings = Object.values(store.snapshot().workspaces)
      .filter((one) => one.tenant === tenant.id)
      .map(({ slug }) => slug);
    return { workspace: workspace.slug, tenant: tenant.id, siblings, actor: actorOf(call), userId: principal.userId };
  }
  return [
    route({
      method: 'get',
      path: PREFIX,
      auth: 'person',
      tag: 'Members',
      summary: 'Who has which role, and who is invited',
      response: MembersView,
      handler: async (call): Promise<MembersView> => {
        const { workspace, userId } = scopeOf(call);
        const rows = await members.list(workspace);
        return {
          rows: rows.map(({ id, email, role, expiresMs }) => ({
            member_id: id,
            email,
            role,
            status: expiresMs === undefined ? 'active' : 'invited',
            you: id === userId,
            expires_at: instant(expiresMs),
          })),
          roles: Role.options.map((role) => ({ role, permissions: [...ROLE_PERMISSIONS[role]] })),
        };
      },
    }),
    route({
      method: 'post',
      path: PREFIX,
      auth: 'person',
      tag: 'Members',
      summary: 'Make a colleague a member, or invite somebody',
      status: 201,
      body: NewMemberRequest,
      response: NewMemberView,
      handler: async (call): Promise<NewMemberView> => {
        const made = await members.add(scopeOf(call), call.body.email, call.body.role);
        return {
          member_id: made.id,
          email: made.email,
          role: made.role,
          status: made.expiresMs === undefined ? 'active' : 'invited',
          invitation: made.invitation ?? null,
          expires_at: instant(made.expiresMs),
        };
      },
    }),
    route({
      method: 'put',
      path: `${PREFIX}/:memberId`,
      auth: 'person',
      tag: 'Members',
      summary: "Change a member's role",
      body: MemberRequest,
      response: MemberView,
      handler: async (call): Promise<MemberView> => {
        const changed = await members.setRole(scopeOf(call), param(call, 'memberId'), call.body.role);
        if (changed === undefined) throw new ProblemError(404, 'Not found');
        return { member_id: changed.id, role: changed.role };
      },
    }),
    route({
      method: 'delete',
      path: `${PREFIX}/:memberId`,
      auth: 'person',
      tag: 'Members',
      summary: "Take a member's role, or an invitation, away",
      status: 204,
      handler: async (call) => {
        if (!(await members.remove(scopeOf(call), param(call, 'memberId')))) throw new ProblemError(404, 'Not found');
      },
    }),
    route({
      method: 'post',
      path: '/internal/people/invitations',
      auth: 'bff',
      tag: 'Internal',
      summary: 'Take an invitation',
      body: TakeInvitationRequest,
      response: z.undefined(),
      status: 204,
      handler: async ({ body }) => {
        const invited = await members.invitation(body.invitation);
        if (invited === undefined) throw refused();
        // An address that has an account proves itself by its password, at the pace of sign-ins.
        const { password, address, device } = body;
        const known = await people.knows(invited.email);
        const taken = known
          ? await members.acceptAs(
              personOf(await people.verify(invited.email, password, { address, device })),
              body.invitation,
            )
          : await members.accept(body.invitation, password);
        if (!taken) throw refused();
      },
    }),
    route({
      method: 'get',
      path: '/internal/people/invitations',
      auth: 'person',
      tag: 'Internal',
      summary: "A person's own open invitations; never the secret",
      response: OwnInvitationsView,
      handler: async ({ principal }): Promise<OwnInvitationsView> => ({
        rows: (await members.invitationsOf(principal?.email ?? '')).map(({ id, workspace, role, expires_at }) => ({
          invitation_id: id,
          workspace,
          role,
          expires_at,
        })),
      }),
    }),
    route({
      method: 'post',
      path: '/internal/people/invitations/:invitationId',
      auth: 'person',
      tag: 'Internal',
      summary: 'A signed-in person takes an own invitation',
      body: TakeOwnInvitationRequest,
      response: z.undefined(),
      status: 204,
      handler: async (call) => {
        const person = personOf(call.principal as Principal);
        const own = (await members.invitationsOf(person.email)).some(({ id }) => id === param(call, 'invitationId'));
        if (!own) throw new ProblemError(404, 'Not found');
        if (!(await members.acceptAs(person, call.body.invitation)))
          throw new ProblemError(400, 'The invitation was not taken', {
            errors: [{ path: 'invitation', message: 'is not the code of this invitation' }],
          });
      },
    }),
    route({
      method: 'delete',
      path: '/internal/people/invitations/:invitationId',
      auth: 'person',
      tag: 'Internal',
      summary: 'A person declines an own invitation',
      status: 204,
      handler: async (call) => {
        const person = personOf(call.principal as Principal);
        if (!(await members.decline(person, param(call, 'invitationId')))) throw new ProblemError(404, 'Not found');
      },
    }),
  ];
}

const personOf = ({ userId, email }: Principal): { id: string; email: string } => ({ id: userId, email });

const refused = (): ProblemError =>
  new ProblemError(401, 'The invitation is not valid', { detail: 'It may be used up or too old; ask for a new one.' });
