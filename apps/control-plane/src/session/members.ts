import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import { Role, type Clock, type InvitationView } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { AuditInput } from '../config/config-repository.ts';
import type { Db, Executor } from '../db/open-database.ts';
import { hashPassword } from './password.ts';

export interface Member {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** Set for an invitation that nobody has taken yet, epoch milliseconds. */
  readonly expiresMs?: number;
}

export interface NewMember extends Member {
  /** The invitation's secret, told this once. */
  readonly invitation?: string;
}

/** Where and in whose name members change. */
export interface MemberScope {
  readonly workspace: string;
  readonly tenant: string;
  /** Slugs of all workspaces of the tenant: who has a role in one of them is a colleague. */
  readonly siblings: readonly string[];
  readonly actor: AuditInput['actor'];
}

/**
 * People with a role in a workspace, and who is invited to one. Every change has its audit record in the same
 * transaction.
 */
export interface Members {
  list(workspace: string): Promise<Member[]>;
  /**
   * A colleague gets the role; anybody else, known here or not, is invited and the answer is the same.
   * @throws ProblemError 409 for a member.
   */
  add(scope: MemberScope, email: string, role: Role): Promise<NewMember>;
  /**
   * Undefined when the workspace has no such member.
   * @throws ProblemError 409 when it would leave the workspace without an admin.
   */
  setRole(scope: MemberScope, id: string, role: Role): Promise<Member | undefined>;
  /** Of a member or an invitation; false when there is none. @throws ProblemError 409 for the last admin. */
  remove(scope: MemberScope, id: string): Promise<boolean>;
  /** Invitations that nobody has taken yet, of one workspace or of all, in the order of their ids after one. */
  openInvitations(query: {
    readonly workspace?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<InvitationView[]>;
  /** Takes an invitation back in an operator's name; false when there is none. */
  takeBack(id: string, actor: AuditInput['actor']): Promise<boolean>;
  /** The invitation of a secret, while it lasts. */
  invitation(secret: string): Promise<{ email: string } | undefined>;
  /** Makes a new account of an invitation's address, with its role. False when it is not valid or there is one. */
  accept(secret: string, password: string): Promise<boolean>;
  /** Gives a person who has proved to be the owner of the account the role. False when it is not theirs or too old. */
  acceptAs(person: { readonly id: string; readonly email: string }, secret: string): Promise<boolean>;
  /** Invitations of an address that nobody has taken yet. */
  invitationsOf(email: string): Promise<InvitationView[]>;
  /** Takes back an invitation of one's own; false when there is none. */
  decline(person: { readonly id: string; readonly email: string }, id: string): Promise<boolean>;
}

export const INVITATION_TTL_MS = 7 * 86_400_000;
const INVITATIONS_OPEN = 200;

export function createPostgresMembers(deps: {
  db: Db;
  clock: Pick<Clock, 'now'>;
  recordAudit: (tx: Executor, input: AuditInput) => Promise<unknown>;
}): Members {
  const { db, clock, recordAudit } = deps;
  const now = (): string => new Date(clock.now()).toISOString();

  const record = (
    tx: Executor,
    scope: MemberScope,
    type: string,
    id: string,
    change: { before?: unknown; after?: unknown },
  ): Promise<unknown> =>
    recordAudit(tx, {
      type,
      actor: scope.actor,
      target: { kind: 'member', id },
      tenant_id: scope.tenant,
      workspace: scope.workspace,
      ...change,
    });

  /** The members' rows, locked: two admins cannot remove each other at once. */
  async function locked(tx: Executor, workspace: string): Promise<Member[]> {
    const found = await tx.execute<{ id: string; email: string; role: string }>(
      sql`select id, email, roles ->> ${workspace} as role from users where jsonb_exists(roles, ${workspace}) order by id for update`,
    );
    return found.rows.flatMap(({ id, email, role }) =>
      Role.safeParse(role).success ? [{ id, email, role: role as Role }] : [],
    );
  }

  function refuseLastAdmin(members: readonly Member[], id: string): void {
    const others = members.some((member) => member.id !== id && member.role === 'admin');
    const admin = members.some((member) => member.id === id && member.role === 'admin');
    if (admin && !others)
      throw new ProblemError(409, 'The last admin stays', {
        detail: 'Make somebody else an admin of this workspace first.',
      });
  }

  async function grant(tx: Executor, id: string, workspace: string, role: Role): Promise<void> {
    await tx.execute(
      sql`update users set roles = roles || jsonb_build_object(${workspace}::text, ${role}::text), version = version + 1 where id = ${id}`,
    );
  }

  async function readOpen(where: SQL, limit: number): Promise<InvitationView[]> {
    const found = await db.execute<{
      id: string;
      email: string;
      role: string;
      workspace: string;
      tenant_id: string;
      expires_at: string | Date;
    }>(sql`
      select id, email, role, workspace, tenant_id, expires_at from invitations
      where expires_at > ${now()}::timestamptz and ${where} order by id limit ${limit}`);
    return found.rows.map((row) => ({
      id: row.id,
      email: row.email,
      role: Role.parse(row.role),
      workspace: row.workspace,
      tenant: row.tenant_id,
      expires_at: new Date(row.expires_at).toISOString(),
    }));
  }

  /** Uses an invitation up, if it is valid and, where an address is given, of that address. */
  async function use(tx: Executor, secret: string, email?: string): Promise<UsedInvitation | undefined> {
    const taken = await tx.execute<UsedInvitation>(
      sql`delete from invitations where token_digest = ${digestOf(secret)} and expires_at > ${now()}::timestamptz
        and ${email === undefined ? sql`true` : sql`email = ${email.toLowerCase()}`} returning email, workspace, tenant_id, role`,
    );
    return taken.rows[0];
  }

  async function join(tx: Executor, id: string, invitation: UsedInvitation): Promise<void> {
    await grant(tx, id, invitation.workspace, Role.parse(invitation.role));
    await record(tx, scopeOf(invitation, { kind: 'person', id }), 'member.joined', id, {
      after: { role: invitation.role },
    });
  }

  const scopeOf = (row: Pick<UsedInvitation, 'workspace' | 'tenant_id'>, actor: AuditInput['actor']): MemberScope => ({
    workspace: row.workspace,
    tenant: row.tenant_id,
    siblings: [],
    actor,
  });

  return {
    list: async (workspace) => {
      const people = await db.execute<{ id: string; email: string; role: string }>(
        sql`select id, email, roles ->> ${workspace} as role from users where jsonb_exists(roles, ${workspace})`,
      );
      const invited = await db.execute<{ id: string; email: string; role: string; expires_at: string | Date }>(
        sql`select id, email, role, expires_at from invitations where workspace = ${workspace} and expires_at > ${now()}::timestamptz`,
      );
      const members: Member[] = people.rows.flatMap(({ id, email, role }) =>
        Role.safeParse(role).success ? [{ id, email, role: role as Role }] : [],
      );
      for (const row of invited.rows)
        members.push({
          id: row.id,
          email: row.email,
          role: Role.parse(row.role),
          expiresMs: new Date(row.expires_at).getTime(),
        });
      return members.toSorted((a, b) => (a.email < b.email ? -1 : 1));
    },
    add: (scope, email, role) =>
      db.transaction(async (tx) => {
        const found = await tx.execute<{ id: string; roles: Record<string, string> }>(
          sql`select id, roles from users where lower(email) = ${email} for update`,
        );
        const person = found.rows[0];
        if (person !== undefined && Object.hasOwn(person.roles, scope.workspace))
          throw new ProblemError(409, 'Already a member', { detail: 'Change the role of the member instead.' });
        if (person !== undefined && scope.siblings.some((slug) => Object.hasOwn(person.roles, slug))) {
          await grant(tx, person.id, scope.workspace, role);
          await record(tx, scope, 'member.added', person.id, { after: { role } });
          return { id: person.id, email, role };
        }
        const secret = randomBytes(32).toString('base64url');
        const id = `inv_${randomUUID()}`;
        const expiresMs = clock.now() + INVITATION_TTL_MS;
        await tx.execute(
          sql`delete from invitations where workspace = ${scope.workspace} and (email = ${email} or expires_at <= ${now()}::timestamptz)`,
        );
        const open = await tx.execute<{ count: string }>(
          sql`select count(*)::text as count from invitations where workspace = ${scope.workspace}`,
        );
        if (Number(open.rows[0]?.count) >= INVITATIONS_OPEN)
          throw new ProblemError(409, 'Too many invitations are open', { detail: 'Take some back first.' });
        await tx.execute(sql`
          insert into invitations (id, token_digest, workspace, tenant_id, email, role, invited_by, created_at, expires_at)
          values (${id}, ${digestOf(secret)}, ${scope.workspace}, ${scope.tenant}, ${email}, ${role}, ${scope.actor.id}, ${now()}::timestamptz, ${new Date(expiresMs).toISOString()}::timestamptz)`);
        await record(tx, scope, 'member.invited', id, { after: { role } });
        return { id, email, role, expiresMs, invitation: secret };
      }),
    setRole: (scope, id, role) =>
      db.transaction(async (tx) => {
        const members = await locked(tx, scope.workspace);
        const member = members.find((one) => one.id === id);
        if (member === undefined) return undefined;
        if (role !== 'admin') refuseLastAdmin(members, id);
        await grant(tx, id, scope.workspace, role);
        await record(tx, scope, 'member.changed', id, { before: { role: member.role }, after: { role } });
        return { ...member, role };
      }),
    remove: (scope, id) =>
      db.transaction(async (tx) => {
        const dropped = await tx.execute<{ role: string }>(
          sql`delete from invitations where workspace = ${scope.workspace} and id = ${id} returning role`,
        );
        if (dropped.rows[0] !== undefined) {
          await record(tx, scope, 'member.uninvited', id, { before: { role: dropped.rows[0].role } });
          return true;
        }
        const members = await locked(tx, scope.workspace);
        const member = members.find((one) => one.id === id);
        if (member === undefined) return false;
        refuseLastAdmin(members, id);
        await tx.execute(
          sql`update users set roles = roles - ${scope.workspace}::text, version = version + 1 where id = ${id}`,
        );
        await record(tx, scope, 'member.removed', id, { before: { role: member.role } });
        return true;
      }),
    openInvitations: ({ workspace, after = '', limit }) =>
      readOpen(sql`id > ${after} and ${workspace === undefined ? sql`true` : sql`workspace = ${workspace}`}`, limit),
    invitationsOf: (email) => readOpen(sql`email = ${email.toLowerCase()}`, INVITATIONS_OPEN),
    takeBack: (id, actor) =>
      db.transaction(async (tx) => {
        const dropped = await tx.execute<{ role: string; workspace: string; tenant_id: string }>(
          sql`delete from invitations where id = ${id} returning role, workspace, tenant_id`,
        );
        const row = dropped.rows[0];
        if (row === undefined) return false;
        await record(
          tx,
          { workspace: row.workspace, tenant: row.tenant_id, siblings: [], actor },
          'member.uninvited',
          id,
          { before: { role: row.role } },
        );
        return true;
      }),
    invitation: async (secret) => {
      const found = await db.execute<{ email: string }>(
        sql`select email from invitations where token_digest = ${digestOf(secret)} and expires_at > ${now()}::timestamptz`,
      );
      return found.rows[0];
    },
    accept: async (secret, password) => {
      const passwordHash = await hashPassword(password);
      return undoable(() =>
        db.transaction(async (tx) => {
          const invitation = await use(tx, secret);
          if (invitation === undefined) return false;
          const id = randomUUID();
          const made = await tx.execute(sql`
            insert into users (id, email, password_hash, roles, version) values (${id}, ${invitation.email}, ${passwordHash}, '{}'::jsonb, 1)
            on conflict do nothing returning id`);
          // Somebody made the account meanwhile: its password has not been proved.
          if (made.rows.length === 0) throw new NotTaken();
          await join(tx, id, invitation);
          return true;
        }),
      );
    },
    acceptAs: ({ id, email }, secret) =>
      db.transaction(async (tx) => {
        const invitation = await use(tx, secret, email);
        if (invitation === undefined) return false;
        await join(tx, id, invitation);
        return true;
      }),
    decline: ({ id, email }, invitationId) =>
      db.transaction(async (tx) => {
        const dropped = await tx.execute<UsedInvitation>(
          sql`delete from invitations where id = ${invitationId} and email = ${email.toLowerCase()} returning email, workspace, tenant_id, role`,
        );
        const [row] = dropped.rows;
        if (row === undefined) return false;
        await record(tx, scopeOf(row, { kind: 'person', id }), 'member.declined', invitationId, {
          before: { role: row.role },
        });
        return true;
      }),
  };
}

/** Rolls a transaction back whose outcome is a plain no. */
class NotTaken extends Error {}

async function undoable(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotTaken) return false;
    throw error;
  }
}

type UsedInvitation = { email: string; workspace: string; tenant_id: string; role: string };

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
