import { z } from 'zod';
import {
  ApiKeyRecord,
  CreateKeyRequest,
  CreateKeyResponse,
  KeyId,
  RotateKeyRequest,
  Slug,
  type Clock,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ConfigStore } from '../config/config-store.ts';
import { param } from './actor.ts';
import { editRow, findRow, listRows } from './config-edit.ts';
import { etagOf } from './if-match.ts';
import { KeyView, revokeKey, viewKey } from './key-routes.ts';
import { page, PAGE_FIELDS, pageOf } from './paging.ts';
import { rotateKey } from './rotate-key.ts';
import { route, type Route } from './route.ts';

/** What may be changed of a key: everything but what it is. */
const KeyChange = CreateKeyRequest;
const KeyRow = z.object({ id: KeyId, version: z.int(), value: KeyView });
const KeyQuery = z.strictObject({
  ...PAGE_FIELDS,
  workspace: Slug.optional(),
  tenant: z.string().max(128).optional(),
  expired: z.enum(['true', 'false']).optional(),
  q: z.string().max(100).optional(),
});

/** Keys of all workspaces: list, read, change, rotate, revoke. They are made below their workspace. */
export function operatorRoutes({ store, clock }: { store: ConfigStore; clock: Clock }): Route[] {
  const keyOf = (keyId: string): ApiKeyRecord => {
    const found = findRow(store, 'keys', keyId);
    if (found === undefined) throw new ProblemError(404, 'Not found');
    return found;
  };
  const isExpired = ({ expiresAt }: ApiKeyRecord): boolean =>
    expiresAt !== undefined && Date.parse(expiresAt) <= clock.now();

  return [
    route({
      method: 'get',
      path: '/api/keys',
      auth: 'viewer',
      tag: 'Keys',
      summary: 'The keys of all workspaces, never their secrets',
      query: KeyQuery,
      response: pageOf(KeyRow),
      handler: ({ query }) => {
        const { workspaces } = store.snapshot();
        const rows = listRows(store, 'keys').filter(({ id, value }) => {
          if (query.workspace !== undefined && value.workspace !== query.workspace) return false;
          if (query.tenant !== undefined && workspaces[value.workspace]?.tenant !== query.tenant) return false;
          if (query.expired !== undefined && isExpired(value) !== (query.expired === 'true')) return false;
          return query.q === undefined || `${id}\n${value.name}`.toLowerCase().includes(query.q.toLowerCase());
        });
        const found = page(rows, query);
        return { ...found, rows: found.rows.map((row) => ({ ...row, value: viewKey(row.value) })) };
      },
    }),
    route({
      method: 'get',
      path: '/api/keys/:keyId',
      auth: 'viewer',
      tag: 'Keys',
      summary: 'One key, never its secret; ETag is its version',
      response: KeyRow,
      handler: (call) => {
        const id = param(call, 'keyId');
        const value = viewKey(keyOf(id));
        const version = store.rowVersion('keys', id) ?? 0;
        call.res.set('etag', etagOf(version));
        return { id, version, value };
      },
    }),
    route({
      method: 'put',
      path: '/api/keys/:keyId',
      auth: 'operator',
      tag: 'Keys',
      summary: "Change a key's name, limits, allowlists, tags or expiry; what is left out is taken away",
      precondition: 'required',
      body: KeyChange,
      response: KeyRow,
      handler: async (call) => {
        const id = param(call, 'keyId');
        const { keyId, digest, workspace, createdAt } = keyOf(id);
        const value = ApiKeyRecord.parse({ ...call.body, keyId, digest, workspace, createdAt });
        const tenant = store.snapshot().workspaces[workspace]?.tenant;
        const version = await editRow(store, call, {
          table: 'keys',
          id,
          value,
          type: 'key.changed',
          tenant,
          workspace,
          show: viewKey,
        });
        return { id, version, value: viewKey(value) };
      },
    }),
    route({
      method: 'delete',
      path: '/api/keys/:keyId',
      auth: 'operator',
      tag: 'Keys',
      summary: 'Revoke a key on every gateway',
      precondition: 'optional',
      status: 204,
      handler: (call) => revokeKey(store, call, param(call, 'keyId')),
    }),
    route({
      method: 'post',
      path: '/api/keys/:keyId/rotate',
      auth: 'operator',
      tag: 'Keys',
      summary:
        'Make a key like this one, which expires after a grace time; the answer is the only time the new key is shown',
      status: 201,
      body: RotateKeyRequest,
      response: CreateKeyResponse,
      handler: (call) => rotateKey(store, clock, call, param(call, 'keyId'), call.body.graceSeconds),
    }),
  ];
}
