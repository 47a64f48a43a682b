import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ApiKeyRecord, HEADER, PRINCIPAL_HEADER, ROLE_PERMISSIONS, type Clock, type Refusal } from '@sluice/contracts';
import { verifyPrincipal } from '@sluice/service-kit';
import type { CompiledConfig, CompiledKey, CompiledWorkspace } from '../../compiled-config.ts';

/** Finds in whose name a request without an API key acts, and in which workspace. */
export type FindPerson = (config: CompiledConfig, request: IncomingMessage) => CompiledKey | Refusal;

/** People whose stand-in for a key is kept, by workspace. */
const PEOPLE_KEPT = 200;
/** The same for a workspace that is not there, and one in which the person has no role, or one that may not call. */
const REFUSED: Refusal = { code: 'permission_denied', message: 'You may not call models in this workspace.' };

/**
 * A person acts in a workspace: `x-sluice-act-workspace` names it, `x-sluice-principal` says who, signed by the
 * console's backend less than 60 s ago. Whoever may make API keys there may call. The call counts against the
 * limits of tenant and workspace; in the ledger it stands under an id of the person's own that begins with
 * `person`.
 */
export function createFindPerson({
  principalKey,
  clock,
}: {
  principalKey: string;
  clock: Pick<Clock, 'now'>;
}): FindPerson {
  const standIns = new WeakMap<CompiledWorkspace, Map<string, CompiledKey>>();

  function standInOf(workspace: CompiledWorkspace, userId: string): CompiledKey {
    let people = standIns.get(workspace);
    if (people === undefined || people.size >= PEOPLE_KEPT) standIns.set(workspace, (people = new Map()));
    let key = people.get(userId);
    if (key === undefined) people.set(userId, (key = makeStandIn(workspace, userId)));
    return key;
  }

  return (config, request) => {
    const principal = verifyPrincipal(headerOf(request, PRINCIPAL_HEADER), principalKey, clock);
    if (principal === undefined) return { code: 'unauthenticated' };
    const slug = headerOf(request, HEADER.actWorkspace) ?? '';
    const role = Object.hasOwn(principal.roles, slug) ? principal.roles[slug] : undefined;
    const workspace = config.workspaces.get(slug);
    if (workspace === undefined || role === undefined || !ROLE_PERMISSIONS[role].includes('keys:write')) return REFUSED;
    return standInOf(workspace, principal.userId);
  };
}

function makeStandIn(workspace: CompiledWorkspace, userId: string): CompiledKey {
  const record = ApiKeyRecord.parse({
    keyId: `person${createHash('sha256').update(userId).digest('hex').slice(0, 24)}`,
    digest: '0'.repeat(64),
    workspace: workspace.workspace.slug,
    name: 'Console',
    createdAt: '1970-01-01T00:00:00.000Z',
  });
  // It stands in no table of keys, so nothing that a caller presents is ever compared with its digest.
  return {
    record,
    digest: Buffer.alloc(32),
    expiresAtMs: Infinity,
    workspace,
    scope: workspace.scope,
    allowsAddress: () => true,
  };
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
