import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DeclaredUser, Role, RoleOffer, Slug } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { PersonAccount, PersonAccountStore } from '../accounts/account-store.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { hashPassword, type ScryptCost } from '../session/password.ts';
import { offerRoles, splitGrants } from '../session/grants.ts';
import type { Members } from '../session/members.ts';
import type { PersonSessions } from '../session/person-sessions.ts';
import { requireVersion, staleAccount } from './account-version.ts';
import { actorOf, param } from './actor.ts';
import { etagOf } from './if-match.ts';
import { cutPage, PAGE_FIELDS, pageOf, readCursor } from './paging.ts';
import { route, type Route } from './route.ts';

const Password = z.string().min(12).max(500);
const UserView = z.object({
  id: z.string(),
  version: z.int(),
  value: z.object({ email: z.string(), roles: z.record(Slug, Role) }),
});
const ChangedUserView = UserView.extend({ invitations: z.array(RoleOffer) });
const NewUser = z.strictObject({
  email: DeclaredUser.shape.email,
  password: Password,
  roles: z.record(Slug, Role).default({}),
});
const UserChange = z.strictObject({ roles: z.record(Slug, Role), password: Password.optional() });
const UserQuery = z.strictObject({
  ...PAGE_FIELDS,
  workspace: Slug.optional(),
  q: z.string().min(1).max(100).optional(),
});

export interface UserRouteDeps {
  /** Less than the default in tests. */
  readonly passwordCost?: ScryptCost | undefined;
  readonly store: ConfigStore;
  readonly personAccounts: PersonAccountStore;
  readonly personSessions: Pick<PersonSessions, 'endOf'>;
  readonly members: Pick<Members, 'add' | 'openInvitations'>;
}

/** @throws ProblemError 400 for a role in a workspace that does not exist. */
export function requireWorkspaces(store: ConfigStore, roles: Readonly<Record<string, Role>>): void {
  const { workspaces } = store.snapshot();
  const unknown = Object.keys(roles).filter((slug) => !Object.hasOwn(workspaces, slug));
  if (unknown.length === 0) return;
  throw new ProblemError(400, 'The change is not possible', {
    type: 'invalid-configuration',
    errors: unknown.map((slug) => ({ path: `roles.${slug}`, message: `there is no workspace ${slug}` })),
  });
}

/** People who may use the tenant console, and their role in each workspace. */
export function userRoutes({
  store,
  personAccounts: people,
  personSessions,
  members,
  passwordCost,
}: UserRouteDeps): Route[] {
  const view = ({ id, version, email, roles }: PersonAccount) => ({ id, version, value: { email, roles } });
  const personOf = async (id: string): Promise<PersonAccount> => {
    const person = await people.find(id);
    if (person === undefined) throw new ProblemError(404, 'Not found');
    return person;
  };
  const target = (id: string) => ({ kind: 'users', id });

  return [
    route({
      method: 'get',
      path: '/api/users',
      auth: 'viewer',
      tag: 'Users',
      summary: 'People with their roles, of all workspaces or of one',
      query: UserQuery,
      response: pageOf(UserView),
      handler: async ({ query }) =>
        cutPage(
          (
            await people.list({
              after: readCursor(query.cursor),
              limit: query.limit + 1,
              workspace: query.workspace,
              q: query.q,
            })
          ).map(view),
          query.limit,
        ),
    }),
    route({
      method: 'get',
      path: '/api/users/:id',
      auth: 'viewer',
      tag: 'Users',
      summary: 'One person; ETag is the version',
      response: UserView,
      handler: async (call) => {
        const person = await personOf(param(call, 'id'));
        call.res.set('etag', etagOf(person.version));
        return view(person);
      },
    }),
    route({
      method: 'post',
      path: '/api/users',
      auth: 'admin',
      tag: 'Users',
      summary: 'Add a person',
      status: 201,
      body: NewUser,
      response: UserView,
      handler: async (call) => {
        const { email, password, roles } = call.body;
        requireWorkspaces(store, roles);
        const id = randomUUID();
        const made = await people.insert(
          { id, email, roles, passwordHash: await hashPassword(password, passwordCost) },
          { type: 'user.created', actor: actorOf(call), target: target(id), after: { roles } },
        );
        if (!made) throw new ProblemError(409, 'There is somebody with this e-mail address');
        call.res.set('etag', etagOf(1));
        return view({ id, email: email.toLowerCase(), roles, version: 1 });
      },
    }),
    route({
      method: 'put',
      path: '/api/users/:id',
      auth: 'admin',
      tag: 'Users',
      summary:
        "Change a person's roles, or give them a new password; roles in tenants that are new to them are offered",
      precondition: 'required',
      body: UserChange,
      response: ChangedUserView,
      handler: async (call) => {
        const { roles, password } = call.body;
        requireWorkspaces(store, roles);
        const config = store.snapshot();
        const old = await personOf(param(call, 'id'));
        const ifVersion = requireVersion(call, old.version);
        const passwordHash = password === undefined ? undefined : await hashPassword(password, passwordCost);
        // Who gives the password as well says who the owner is.
        const { active, offered } =
          password === undefined ? splitGrants(old, roles, config) : { active: roles, offered: {} };
        const audit = {
          type: password === undefined ? 'user.changed' : 'user.password_changed',
          actor: actorOf(call),
          target: target(old.id),
          before: { roles: old.roles },
          after: { roles: active },
        };
        const version = await people.update({ id: old.id, roles: active, passwordHash }, ifVersion, audit);
        if (version === undefined) throw staleAccount(ifVersion, (await people.find(old.id))?.version);
        // Whoever knew the old password may be signed in by it.
        if (password !== undefined) await personSessions.endOf(old.id);
        call.res.set('etag', etagOf(version));
        const invitations = await offerRoles(members, config, old.email, { offered, actor: audit.actor });
        return { ...view({ ...old, roles: active, version }), invitations };
      },
    }),
    route({
      method: 'delete',
      path: '/api/users/:id',
      auth: 'admin',
      tag: 'Users',
      summary: 'Remove a person',
      precondition: 'required',
      status: 204,
      handler: async (call) => {
        const old = await personOf(param(call, 'id'));
        const ifVersion = requireVersion(call, old.version);
        const gone = await people.remove(old.id, ifVersion, {
          type: 'user.deleted',
          actor: actorOf(call),
          target: target(old.id),
          before: { roles: old.roles },
        });
        if (!gone) throw staleAccount(ifVersion, (await people.find(old.id))?.version);
        await personSessions.endOf(old.id);
      },
    }),
  ];
}
