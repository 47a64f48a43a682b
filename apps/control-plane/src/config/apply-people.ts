import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigSnapshot, DeclaredUser, InvitationView, PlatformChange, RoleOffer } from '@sluice/contracts';
import { ProblemError, type FieldFault } from '@sluice/service-kit';
import type { PersonAccount, PersonAccountStore } from '../accounts/account-store.ts';
import { offerRoles, splitGrants, type Grants } from '../session/grants.ts';
import type { Members } from '../session/members.ts';
import { hashPassword, type ScryptCost } from '../session/password.ts';
import type { AuditInput } from './config-repository.ts';
import { diffValues } from './diff-rows.ts';

/** What is to become of one person. */
type Step =
  | { readonly action: 'create'; readonly user: DeclaredUser & { readonly password: string } }
  | { readonly action: 'update'; readonly user: DeclaredUser; readonly old: PersonAccount; readonly grants: Grants }
  | { readonly action: 'delete'; readonly old: PersonAccount };

export interface ApplyPeopleDeps {
  readonly people: PersonAccountStore;
  readonly members: Pick<Members, 'add'>;
  readonly config: Pick<ConfigSnapshot, 'workspaces'>;
  readonly passwordCost?: ScryptCost | undefined;
}

export interface PeoplePlan {
  readonly steps: readonly Step[];
  readonly shown: readonly PlatformChange[];
  readonly undeclared: readonly { readonly table: 'users'; readonly id: string }[];
  readonly faults: readonly FieldFault[];
}

/** Everybody who is there; accounts are few beside calls. */
export async function everybody(people: PersonAccountStore): Promise<PersonAccount[]> {
  const all: PersonAccount[] = [];
  for (let after: string | undefined; ; after = all.at(-1)?.id) {
    const page = await people.list({ after, limit: 1000 });
    all.push(...page);
    if (page.length < 1000) return all;
  }
}

/** What declared people change. `config` is the one that they will live in; who is invited already is not again. */
export function planPeople(
  declared: readonly DeclaredUser[],
  there: readonly PersonAccount[],
  config: Pick<ConfigSnapshot, 'workspaces'>,
  { prune, invited }: { prune: boolean; invited: readonly InvitationView[] },
): PeoplePlan {
  const steps: Step[] = [];
  const shown: PlatformChange[] = [];
  const faults: FieldFault[] = [];
  const byEmail = new Map(there.map((person) => [person.email.toLowerCase(), person]));
  const named = new Set<string>();
  declared.forEach((user, i) => {
    const email = user.email.toLowerCase();
    if (named.has(email)) faults.push({ path: `users.${i}.email`, message: `${email} is declared twice` });
    named.add(email);
    for (const slug of Object.keys(user.roles)) {
      if (!Object.hasOwn(config.workspaces, slug))
        faults.push({ path: `users.${i}.roles.${slug}`, message: `there is no workspace ${slug}` });
    }
    const old = byEmail.get(email);
    if (old !== undefined) {
      const grants = splitGrants(old, user.roles, config);
      for (const { workspace, role } of invited.filter((one) => one.email === email))
        if (grants.offered[workspace] === role) delete grants.offered[workspace];
      if (isDeepStrictEqual({ ...old.roles }, grants.active) && Object.keys(grants.offered).length === 0) return;
      steps.push({ action: 'update', user, old, grants });
      shown.push({
        table: 'users',
        id: email,
        action: 'update',
        fields: diffValues({ roles: { ...old.roles } }, { roles: user.roles }),
      });
    } else if (user.password === undefined)
      faults.push({ path: `users.${i}.password`, message: `${email} is new and needs one` });
    else {
      steps.push({ action: 'create', user: { ...user, email, password: user.password } });
      shown.push({ table: 'users', id: email, action: 'create', fields: [{ path: 'roles', after: user.roles }] });
    }
  });
  const undeclared = there.filter(({ email }) => !named.has(email.toLowerCase()));
  if (prune) {
    for (const old of undeclared) {
      steps.push({ action: 'delete', old });
      shown.push({ table: 'users', id: old.email, action: 'delete', fields: [] });
    }
  }
  return {
    steps,
    shown,
    undeclared: prune ? [] : undeclared.map(({ email }) => ({ table: 'users', id: email })),
    faults,
  };
}

/** Everybody who is invited and has not come yet. */
export async function everybodyInvited(members: Pick<Members, 'openInvitations'>): Promise<InvitationView[]> {
  const all: InvitationView[] = [];
  for (let after: string | undefined; ; after = all.at(-1)?.id) {
    const page = await members.openInvitations({ after, limit: 1000 });
    all.push(...page);
    if (page.length < 1000) return all;
  }
}

/** Takes the steps one by one; the roles that were offered. @throws ProblemError 412 when somebody else has changed a person meanwhile. */
export async function applyPeople(
  { people, members, config, passwordCost }: ApplyPeopleDeps,
  plan: PeoplePlan,
  actor: AuditInput['actor'],
): Promise<RoleOffer[]> {
  const offers: RoleOffer[] = [];
  for (const step of plan.steps) {
    const id = step.action === 'create' ? randomUUID() : step.old.id;
    const base = { actor, target: { kind: 'users', id } };
    const done = await take(people, step, id, base, passwordCost);
    if (!done)
      throw new ProblemError(412, 'Changed in the meantime', {
        type: 'stale',
        detail: 'Somebody else has changed a person meanwhile; the configuration itself was applied. Apply again.',
      });
    if (step.action === 'update')
      offers.push(...(await offerRoles(members, config, step.old.email, { offered: step.grants.offered, actor })));
  }
  return offers;
}

async function take(
  people: PersonAccountStore,
  step: Step,
  id: string,
  base: Pick<AuditInput, 'actor' | 'target'>,
  cost: ScryptCost | undefined,
): Promise<boolean> {
  switch (step.action) {
    case 'create': {
      const { email, roles, password } = step.user;
      return people.insert(
        { id, email, roles, passwordHash: await hashPassword(password, cost) },
        { ...base, type: 'user.created', after: { roles } },
      );
    }
    case 'update': {
      const roles = step.grants.active;
      if (isDeepStrictEqual({ ...step.old.roles }, roles)) return true;
      return (
        (await people.update({ id, roles }, step.old.version, {
          ...base,
          type: 'user.changed',
          before: { roles: step.old.roles },
          after: { roles },
        })) !== undefined
      );
    }
    case 'delete':
      return people.remove(id, step.old.version, { ...base, type: 'user.deleted', before: { roles: step.old.roles } });
  }
}
