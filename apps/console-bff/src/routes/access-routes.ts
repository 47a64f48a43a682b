import {
  CreateKeyResponse,
  KeyId,
  KeysView,
  MemberRequest,
  MembersView,
  MemberView,
  NewKeyRequest,
  NewKeyView,
  NewMemberRequest,
  NewMemberView,
  TenantKeys,
  TenantMember,
  TenantMembers,
  TenantNewMember,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { z } from 'zod';
import { projectKeys, projectMembers, projectNewKey, projectNewMember } from '../views/people-view.ts';
import { NoQuery } from './query.ts';
import { done, missing, shown, type ScopedRoute } from './scoped-route.ts';

const Nothing = z.unknown();
/** Ids of members, invitations and webhooks. */
export const ThingId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
/** Fields of the control plane's keys as the console names them; another one's name is not told. */
const SNAKE: Readonly<Record<string, string>> = {
  name: 'name',
  expiresAt: 'expires_at',
  allowModels: 'allow_models',
  allowAddresses: 'allow_addresses',
};

export const ACCESS_ROUTES: readonly ScopedRoute[] = [
  {
    method: 'get',
    path: '/api/keys',
    summary: 'API keys of a workspace, newest first; never the keys themselves',
    permission: 'keys:write',
    query: NoQuery,
    view: KeysView,
    async answer(controlPlane, { scope, nowMs, sight }) {
      const found = await controlPlane.read(TenantKeys, scope, '/keys');
      return found === undefined ? missing : shown(projectKeys(found.value, nowMs, sight));
    },
  },
  {
    method: 'post',
    path: '/api/keys',
    summary: 'Makes an API key; the answer is the only time it is shown',
    permission: 'keys:write',
    query: NoQuery,
    body: NewKeyRequest,
    status: 201,
    view: NewKeyView,
    async answer(controlPlane, { scope, body }) {
      const { name, expires_at, allow_models, allow_addresses } = body as NewKeyRequest;
      const key = {
        name,
        ...(expires_at === undefined ? {} : { expiresAt: expires_at }),
        ...(allow_models === undefined ? {} : { allowModels: allow_models }),
        ...(allow_addresses === undefined ? {} : { allowAddresses: allow_addresses }),
      };
      try {
        const made = await controlPlane.change(CreateKeyResponse, scope, { method: 'POST', path: '/keys', body: key });
        return made.kind === 'done' ? shown(projectNewKey(made.value)) : missing;
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status !== 400) throw error;
        // What the person asked for is wrong, not the control plane: say which field, in the console's own names.
        throw new ProblemError(400, 'This key cannot be made', {
          errors: (error.errors ?? []).map(({ path, message }) => ({
            path: SNAKE[path.split('.')[0] ?? ''] ?? '',
            message,
          })),
        });
      }
    },
  },
  {
    method: 'delete',
    path: '/api/keys/:keyId',
    summary: 'Revokes an API key; every gateway hears of it in under a second',
    permission: 'keys:write',
    query: NoQuery,
    status: 204,
    async answer(controlPlane, { scope, params }) {
      const keyId = KeyId.safeParse(params['keyId']);
      if (!keyId.success) return missing;
      return (await controlPlane.change(Nothing, scope, { method: 'DELETE', path: `/keys/${keyId.data}` })).kind ===
        'done'
        ? done
        : missing;
    },
  },
  {
    method: 'get',
    path: '/api/members',
    summary: 'Who has which role, and who is invited',
    permission: 'members:write',
    query: NoQuery,
    view: MembersView,
    async answer(controlPlane, { scope }) {
      const found = await controlPlane.read(TenantMembers, scope, '/members');
      return found === undefined ? missing : shown(projectMembers(found.value));
    },
  },
  {
    method: 'post',
    path: '/api/members',
    summary: 'Makes a colleague a member, or invites somebody; an invitation is shown this once',
    permission: 'members:write',
    query: NoQuery,
    body: NewMemberRequest,
    status: 201,
    view: NewMemberView,
    async answer(controlPlane, { scope, body }) {
      const { email, role } = body as NewMemberRequest;
      const made = await controlPlane.change(TenantNewMember, scope, {
        method: 'POST',
        path: '/members',
        body: { email, role },
      });
      return made.kind === 'done' ? shown(projectNewMember(made.value)) : missing;
    },
  },
  {
    method: 'put',
    path: '/api/members/:memberId',
    summary: 'Changes a role; the last admin stays one',
    permission: 'members:write',
    query: NoQuery,
    body: MemberRequest,
    view: MemberView,
    async answer(controlPlane, { scope, params, body }) {
      const id = ThingId.safeParse(params['memberId']);
      if (!id.success) return missing;
      const changed = await controlPlane.change(TenantMember, scope, {
        method: 'PUT',
        path: `/members/${id.data}`,
        body: { role: (body as MemberRequest).role },
      });
      return changed.kind === 'done'
        ? shown({ member_id: changed.value.member_id, role: changed.value.role })
        : missing;
    },
  },
  {
    method: 'delete',
    path: '/api/members/:memberId',
    summary: 'Takes a role or an invitation away; the last admin stays',
    permission: 'members:write',
    query: NoQuery,
    status: 204,
    async answer(controlPlane, { scope, params }) {
      const id = ThingId.safeParse(params['memberId']);
      if (!id.success) return missing;
      return (await controlPlane.change(Nothing, scope, { method: 'DELETE', path: `/members/${id.data}` })).kind ===
        'done'
        ? done
        : missing;
    },
  },
];
