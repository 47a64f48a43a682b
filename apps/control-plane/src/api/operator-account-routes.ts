import { z } from 'zod';
import { OperatorRole } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { OperatorAccount, OperatorAccountStore } from '../accounts/account-store.ts';
import type { OperatorSessions } from '../session/operator-sessions.ts';
import type { OperatorSignIn } from '../session/operator-sign-in.ts';
import { hashPassword, type ScryptCost } from '../session/password.ts';
import { requireVersion, staleAccount } from './account-version.ts';
import { actorOf, param } from './actor.ts';
import { etagOf } from './if-match.ts';
import { cutPage, PAGE_FIELDS, pageOf, readCursor } from './paging.ts';
import { route, type Route, type RouteCall } from './route.ts';

const Password = z.string().min(12).max(500);
const AccountName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/,
    'must be 1 to 100 letters, digits, dots, underscores, at signs or hyphens',
  );
const AccountView = z.object({
  id: z.string(),
  version: z.int(),
  value: z.object({ role: OperatorRole, enabled: z.boolean(), createdAt: z.string() }),
});
const NewAccount = z.strictObject({ name: AccountName, role: OperatorRole, password: Password });
const AccountChange = z.strictObject({
  role: OperatorRole,
  enabled: z.boolean().default(true),
  password: Password.optional(),
});
const OwnPassword = z.strictObject({ current: z.string().min(1).max(500), password: Password });

export interface OperatorAccountRouteDeps {
  /** Less than the default in tests. */
  readonly passwordCost?: ScryptCost | undefined;
  readonly operatorAccounts: OperatorAccountStore;
  readonly sessions: OperatorSessions;
  readonly signIn: OperatorSignIn;
}

/**
 * Accounts of operators. Whatever changes of one, its sessions end. The account of the environment is not among
 * them.
 */
export function operatorAccountRoutes({
  operatorAccounts: accounts,
  sessions,
  signIn,
  passwordCost,
}: OperatorAccountRouteDeps): Route[] {
  const view = ({ id, version, role, enabled, createdAt }: OperatorAccount) => ({
    id,
    version,
    value: { role, enabled, createdAt },
  });
  const accountOf = async (call: RouteCall<unknown, unknown>) => {
    const account = await accounts.find(param(call, 'name'));
    if (account === undefined) throw new ProblemError(404, 'Not found');
    return account;
  };
  const target = (id: string) => ({ kind: 'operators', id });
  const shown = ({ role, enabled }: Pick<OperatorAccount, 'role' | 'enabled'>) => ({ role, enabled });

  return [
    route({
      method: 'get',
      path: '/api/operators',
      auth: 'admin',
      tag: 'Operators',
      summary: 'Accounts of operators, without the one of the environment',
      query: z.strictObject(PAGE_FIELDS),
      response: pageOf(AccountView),
      handler: async ({ query }) =>
        cutPage(
          (await accounts.list({ after: readCursor(query.cursor), limit: query.limit + 1 })).map(view),
          query.limit,
        ),
    }),
    route({
      method: 'get',
      path: '/api/operators/:name',
      auth: 'admin',
      tag: 'Operators',
      summary: 'One account; ETag is its version',
      response: AccountView,
      handler: async (call) => {
        const account = await accountOf(call);
        call.res.set('etag', etagOf(account.version));
        return view(account);
      },
    }),
    route({
      method: 'post',
      path: '/api/operators',
      auth: 'admin',
      tag: 'Operators',
      summary: 'Add an account',
      status: 201,
      body: NewAccount,
      response: AccountView,
      handler: async (call) => {
        const { name, role, password } = call.body;
        if (name === signIn.rootUser)
          throw new ProblemError(409, 'There is an account of this name', {
            detail: 'It is the one of the environment (SLUICE_OPERATOR_USER).',
          });
        const made = await accounts.insert(
          { id: name, role, passwordHash: await hashPassword(password, passwordCost) },
          {
            type: 'operator.created',
            actor: actorOf(call),
            target: target(name),
            after: shown({ role, enabled: true }),
          },
        );
        const account = made ? await accounts.find(name) : undefined;
        if (account === undefined) throw new ProblemError(409, 'There is an account of this name');
        call.res.set('etag', etagOf(account.version));
        return view(account);
      },
    }),
    route({
      method: 'put',
      path: '/api/operators/:name',
      auth: 'admin',
      tag: 'Operators',
      summary: "Change an account's role or password, or disable it; its sessions end",
      precondition: 'required',
      body: AccountChange,
      response: AccountView,
      handler: async (call) => {
        const { role, enabled, password } = call.body;
        const old = await accountOf(call);
        const ifVersion = requireVersion(call, old.version);
        const passwordHash = password === undefined ? undefined : await hashPassword(password, passwordCost);
        const type = password === undefined ? 'operator.changed' : 'operator.password_changed';
        const version = await accounts.update({ id: old.id, role, enabled, passwordHash }, ifVersion, {
          type,
          actor: actorOf(call),
          target: target(old.id),
          before: shown(old),
          after: shown({ role, enabled }),
        });
        if (version === undefined) throw staleAccount(ifVersion, (await accounts.find(old.id))?.version);
        await sessions.endOf(old.id);
        call.res.set('etag', etagOf(version));
        return view({ ...old, role, enabled, version });
      },
    }),
    route({
      method: 'delete',
      path: '/api/operators/:name',
      auth: 'admin',
      tag: 'Operators',
      summary: 'Remove an account; its sessions end',
      precondition: 'required',
      status: 204,
      handler: async (call) => {
        const old = await accountOf(call);
        const ifVersion = requireVersion(call, old.version);
        const gone = await accounts.remove(old.id, ifVersion, {
          type: 'operator.deleted',
          actor: actorOf(call),
          target: target(old.id),
          before: shown(old),
        });
        if (!gone) throw staleAccount(ifVersion, (await accounts.find(old.id))?.version);
        await sessions.endOf(old.id);
      },
    }),
    route({
      method: 'post',
      path: '/api/session/password',
      auth: 'viewer',
      tag: 'Session',
      summary: "Change one's own password; one's sessions end",
      status: 204,
      body: OwnPassword,
      handler: async (call) => {
        const user = call.operator?.user ?? '';
        if (user === signIn.rootUser)
          throw new ProblemError(409, 'This password is set in the environment', {
            detail: 'Change SLUICE_OPERATOR_PASSWORD and start the control plane again.',
          });
        await signIn.verify(user, call.body.current, { signedIn: true });
        const account = await accounts.find(user);
        if (account === undefined) throw new ProblemError(404, 'Not found');
        const passwordHash = await hashPassword(call.body.password, passwordCost);
        const version = await accounts.update({ ...account, passwordHash }, account.version, {
          type: 'operator.password_changed',
          actor: actorOf(call),
          target: target(user),
        });
        if (version === undefined) throw staleAccount(account.version, undefined);
        await sessions.endOf(user);
      },
    }),
  ];
}
