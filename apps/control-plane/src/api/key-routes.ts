import { z } from 'zod';
import { ApiKeyRecord, CreateKeyRequest, CreateKeyResponse, type Clock } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { createApiKey } from '../config/api-key.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { param } from './actor.ts';
import { editRow } from './config-edit.ts';
import { requireWorkspace } from './policy-routes.ts';
import { route, type Route, type RouteAuth, type RouteCall } from './route.ts';

/** A key as it may be seen again: without its digest. */
export const KeyView = ApiKeyRecord.omit({ digest: true });
export type KeyView = z.infer<typeof KeyView>;

/**
 * Keys that a workspace may have: each is held by every gateway and looked at with every change of the
 * configuration, whoever made it.
 */
export const MAX_KEYS = 1000;

export interface KeyRouteDeps {
  readonly store: ConfigStore;
  readonly clock: Clock;
  readonly prefix: string;
  /** Who may read, and who may change. */
  readonly auth: { readonly read: RouteAuth; readonly write: RouteAuth };
  readonly admit: (call: RouteCall<unknown, unknown>) => void;
}

/** Making and listing the keys of a workspace, below `prefix`. */
export function workspaceKeyRoutes({ store, clock, prefix, auth, admit }: KeyRouteDeps): Route[] {
  return [
    route({
      method: 'post',
      path: `${prefix}/:slug/keys`,
      auth: auth.write,
      tag: 'Keys',
      summary: 'Make an API key; the answer is the only time it is shown',
      status: 201,
      body: CreateKeyRequest,
      response: CreateKeyResponse,
      handler: async (call) => {
        admit(call);
        const workspace = requireWorkspace(store, param(call, 'slug'));
        requireFutureExpiry(call.body.expiresAt, clock);
        requireRoom(store, workspace.slug);
        const made = createApiKey();
        const record = ApiKeyRecord.parse({
          ...call.body,
          keyId: made.keyId,
          digest: made.digest,
          workspace: workspace.slug,
          createdAt: new Date(clock.now()).toISOString(),
        });
        await editRow(store, call, {
          table: 'keys',
          id: made.keyId,
          value: record,
          type: 'key.created',
          tenant: workspace.tenant,
          workspace: workspace.slug,
          show: viewKey,
        });
        return { keyId: made.keyId, key: made.key, name: record.name };
      },
    }),
    route({
      method: 'get',
      path: `${prefix}/:slug/keys`,
      auth: auth.read,
      tag: 'Keys',
      summary: 'The keys of a workspace',
      response: z.object({ rows: z.array(KeyView) }),
      handler: (call) => {
        admit(call);
        const { slug } = requireWorkspace(store, param(call, 'slug'));
        const keys = Object.values(store.snapshot().keys).filter((key) => key.workspace === slug);
        return { rows: keys.map(viewKey) };
      },
    }),
  ];
}

/** Revokes a key of any workspace, or of this one only; every gateway hears of it at once. */
export async function revokeKey(
  store: ConfigStore,
  call: RouteCall<unknown, unknown>,
  keyId: string,
  workspace?: string,
): Promise<void> {
  const keys = store.snapshot().keys;
  const key = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  if (key === undefined || (workspace !== undefined && key.workspace !== workspace))
    throw new ProblemError(404, 'Not found');
  const tenant = store.snapshot().workspaces[key.workspace]?.tenant;
  await editRow(store, call, {
    table: 'keys',
    id: keyId,
    type: 'key.revoked',
    tenant,
    workspace: key.workspace,
    show: viewKey,
    lastWriterWins: true,
  });
}

/** @throws ProblemError 400 for a key that would have expired before it was made. */
function requireFutureExpiry(expiresAt: string | undefined, clock: Pick<Clock, 'now'>): void {
  if (expiresAt === undefined || Date.parse(expiresAt) > clock.now()) return;
  throw new ProblemError(400, 'The request body is not valid', {
    errors: [{ path: 'expiresAt', message: 'must be in the future' }],
  });
}

/**
 * @throws ProblemError 409 for a workspace with as many keys as it may have; expired ones count until they are
 * revoked.
 */
function requireRoom(store: ConfigStore, slug: string): void {
  let count = 0;
  for (const key of Object.values(store.snapshot().keys)) if (key.workspace === slug) count += 1;
  if (count >= MAX_KEYS)
    throw new ProblemError(409, 'Too many keys', {
      detail: `A workspace has at most ${MAX_KEYS}. Revoke those that are not needed any more.`,
    });
}

/** A key as it may be shown. */
export function viewKey(row: unknown): KeyView {
  const { digest: _digest, ...rest } = row as ApiKeyRecord;
  return rest;
}
