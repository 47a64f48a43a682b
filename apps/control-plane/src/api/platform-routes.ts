import {
  applyPatch,
  PlatformDiff,
  PlatformDocument,
  PlatformRequest,
  type ConfigSnapshot,
  type Provider,
} from '@sluice/contracts';
import { ProblemError, type SecretBox } from '@sluice/service-kit';
import type { Clock } from '@sluice/contracts';
import type { PersonAccountStore } from '../accounts/account-store.ts';
import { applyPeople, everybody, everybodyInvited, planPeople, type PeoplePlan } from '../config/apply-people.ts';
import type { AuditInput } from '../config/config-repository.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { exportPlatform } from '../config/export-platform.ts';
import { planPlatform, type PlatformPlan } from '../config/plan-platform.ts';
import { maskProvider } from '../config/provider-secrets.ts';
import type { Members } from '../session/members.ts';
import type { ScryptCost } from '../session/password.ts';
import { actorOf } from './actor.ts';
import { viewKey } from './key-routes.ts';
import { route, type Route } from './route.ts';

export interface PlatformRouteDeps {
  readonly store: ConfigStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly secretBox?: SecretBox | undefined;
  readonly personAccounts: PersonAccountStore;
  readonly members: Pick<Members, 'add' | 'openInvitations'>;
  readonly passwordCost?: ScryptCost | undefined;
}

const NO_PEOPLE: PeoplePlan = { steps: [], shown: [], undeclared: [], faults: [] };

/** The whole platform as one document: shown, compared, brought to what is declared. */
export function platformRoutes(deps: PlatformRouteDeps): Route[] {
  const { store, clock, personAccounts: people } = deps;

  /**
   * @throws ProblemError 400 with paths of the document, 412 when the configuration is not the one that was looked
   * at.
   */
  async function plan({
    document,
    prune,
    ifVersion,
  }: PlatformRequest): Promise<{ config: PlatformPlan; persons: PeoplePlan; version: number; diff: PlatformDiff }> {
    const before = store.snapshot();
    if (ifVersion !== undefined && ifVersion !== before.version) {
      throw new ProblemError(412, 'Changed in the meantime', {
        type: 'stale',
        detail: `You have seen version ${ifVersion} of the configuration; it is at version ${before.version}.`,
        versions: { yours: ifVersion, current: before.version },
      });
    }
    const config = planPlatform({
      document,
      prune,
      before,
      box: deps.secretBox,
      at: new Date(clock.now()).toISOString(),
    });
    if (config.faults.length > 0) throw impossible(config.faults);
    const removed = config.changes
      .filter(({ table, value }) => table === 'workspaces' && value === undefined)
      .map(({ id }) => id);
    const there = document.users === undefined && removed.length === 0 ? [] : await everybody(people);
    const persons =
      document.users === undefined
        ? NO_PEOPLE
        : planPeople(document.users, there, after(before, config), {
            prune,
            invited: await everybodyInvited(deps.members),
          });
    const faults = [...persons.faults, ...rolesLeft(removed, there, document, prune)];
    if (faults.length > 0) throw impossible(faults);
    return {
      config,
      persons,
      version: before.version,
      diff: {
        version: before.version,
        changes: [...config.shown, ...persons.shown],
        undeclared: [...config.undeclared, ...persons.undeclared],
        applied: false,
        invitations: [],
      },
    };
  }

  return [
    route({
      method: 'get',
      path: '/api/platform',
      auth: 'viewer',
      tag: 'Platform',
      summary: 'The configuration as a document that can be applied again; without secrets',
      response: PlatformDocument,
      handler: async () => exportPlatform(store.snapshot(), await everybody(people)),
    }),
    route({
      method: 'post',
      path: '/api/platform/diff',
      // Whoever may ask this can find out whether a stored secret is the one that they guess.
      auth: 'operator',
      tag: 'Platform',
      summary: 'What applying a document would change; nothing is changed',
      body: PlatformRequest,
      maxBodyBytes: PLATFORM_BYTES,
      response: PlatformDiff,
      handler: async ({ body }) => (await plan(body)).diff,
    }),
    route({
      method: 'post',
      path: '/api/platform/apply',
      auth: 'admin',
      tag: 'Platform',
      summary: 'Bring the configuration to what a document declares, as one change; applied again it changes nothing',
      body: PlatformRequest,
      maxBodyBytes: PLATFORM_BYTES,
      response: PlatformDiff,
      handler: async (call) => {
        const { config, persons, version, diff } = await plan(call.body);
        const actor = actorOf(call);
        if (config.changes.length > 0) {
          await store.change({
            changes: config.changes,
            ifConfigVersion: version,
            audit: (before) => config.changes.map((change) => record(actor, before, change)),
          });
        }
        const { members, passwordCost } = deps;
        const invitations = await applyPeople(
          { people, members, config: store.snapshot(), passwordCost },
          persons,
          actor,
        );
        return { ...diff, version: store.version, applied: true, invitations };
      },
    }),
  ];
}

/** A platform of 10,000 workspaces has a few MB. */
const PLATFORM_BYTES = 32 * 1024 * 1024;

function impossible(faults: readonly { path: string; message: string }[]): ProblemError {
  return new ProblemError(400, 'The document cannot be applied', {
    type: 'invalid-configuration',
    errors: faults.slice(0, 100).map(({ path, message }) => ({ path, message })),
  });
}

function after(before: ConfigSnapshot, { changes }: PlatformPlan): ConfigSnapshot {
  if (changes.length === 0) return before;
  return applyPatch(before, {
    version: before.version + 1,
    changes: changes.map(({ table, id, value }) => ({ table, id, ...(value === undefined ? {} : { value }) })),
  });
}

/** Roles in workspaces that are removed, unless the document takes them away too. */
function rolesLeft(
  removed: readonly string[],
  there: Awaited<ReturnType<typeof everybody>>,
  document: PlatformDocument,
  prune: boolean,
): { path: string; message: string }[] {
  if (removed.length === 0) return [];
  const declared = new Map(document.users?.map((user) => [user.email.toLowerCase(), user.roles]));
  return there.flatMap(({ email, roles }) => {
    const left = document.users === undefined ? roles : (declared.get(email) ?? (prune ? {} : roles));
    return removed
      .filter((slug) => Object.hasOwn(left, slug))
      .map((slug) => ({ path: `workspaces.${slug}`, message: `${email} has a role in it; take it away first` }));
  });
}

const AUDIT_NOUN = {
  cells: 'cell',
  providers: 'provider',
  models: 'model',
  plans: 'plan',
  tenants: 'tenant',
  workspaces: 'workspace',
  keys: 'key',
  killSwitches: 'kill_switch',
} as const;

function record(
  actor: AuditInput['actor'],
  before: ConfigSnapshot,
  { table, id, value }: PlatformPlan['changes'][number],
): AuditInput {
  const old: unknown = before[table][id];
  const row = value ?? old;
  const workspace =
    table === 'workspaces' ? id : table === 'keys' ? String(Reflect.get(row as object, 'workspace')) : undefined;
  const tenant =
    table === 'tenants'
      ? id
      : table === 'workspaces'
        ? String(Reflect.get(row as object, 'tenant'))
        : workspace === undefined
          ? undefined
          : before.workspaces[workspace]?.tenant;
  const show = (shown: unknown): unknown =>
    table === 'providers' ? maskProvider(shown as Provider) : table === 'keys' ? viewKey(shown) : shown;
  return {
    type: `${AUDIT_NOUN[table]}.${value === undefined ? (table === 'keys' ? 'revoked' : 'deleted') : old === undefined ? 'created' : 'changed'}`,
    actor,
    target: { kind: table, id },
    ...(tenant === undefined ? {} : { tenant_id: tenant }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(old === undefined ? {} : { before: show(old) }),
    ...(value === undefined ? {} : { after: show(value) }),
  };
}
