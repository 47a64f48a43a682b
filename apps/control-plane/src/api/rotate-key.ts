import { ApiKeyRecord, type Clock, type CreateKeyResponse } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { createApiKey } from '../config/api-key.ts';
import type { ConfigStore } from '../config/config-store.ts';
import { actorOf } from './actor.ts';
import { viewKey } from './key-routes.ts';
import type { RouteCall } from './route.ts';

/**
 * Makes a key with the same limits, allowlists and tags, and lets the old one expire after the grace time, or
 * sooner where it would have. Both in one change: no gateway ever knows neither.
 */
export async function rotateKey(
  store: ConfigStore,
  clock: Clock,
  call: RouteCall<unknown, unknown>,
  keyId: string,
  graceSeconds: number,
): Promise<CreateKeyResponse> {
  const { keys, workspaces } = store.snapshot();
  const old = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  if (old === undefined) throw new ProblemError(404, 'Not found');
  const nowMs = clock.now();
  const graceEnd = new Date(nowMs + graceSeconds * 1000).toISOString();
  const made = createApiKey();
  const { expiresAt, ...same } = old;
  const next = ApiKeyRecord.parse({
    ...same,
    keyId: made.keyId,
    digest: made.digest,
    createdAt: new Date(nowMs).toISOString(),
  });
  const retiring: ApiKeyRecord = {
    ...old,
    expiresAt: expiresAt !== undefined && expiresAt < graceEnd ? expiresAt : graceEnd,
  };
  const tenant = workspaces[old.workspace]?.tenant;
  const owner = {
    actor: actorOf(call),
    workspace: old.workspace,
    ...(tenant === undefined ? {} : { tenant_id: tenant }),
  };
  await store.change({
    changes: [
      { table: 'keys', id: next.keyId, value: next },
      { table: 'keys', id: old.keyId, value: retiring },
    ],
    audit: () => [
      {
        ...owner,
        type: 'key.rotated',
        target: { kind: 'keys', id: old.keyId },
        before: viewKey(old),
        after: viewKey(retiring),
      },
      { ...owner, type: 'key.created', target: { kind: 'keys', id: next.keyId }, after: viewKey(next) },
    ],
  });
  return { keyId: made.keyId, key: made.key, name: next.name };
}
