import {
  ROLE_PERMISSIONS,
  type KeysView,
  type MembersView,
  type NewKeyView,
  type CreateKeyResponse,
  type NewMemberView,
  type Principal,
  type SessionView,
  type TenantKeys,
  type CustomerLimits,
} from '@sluice/contracts';
import type { Sight } from '../routes/scoped-route.ts';

export function projectSession(principal: Principal): SessionView {
  const roles = Object.entries(principal.roles);
  return {
    kind: 'person',
    userId: principal.userId,
    email: principal.email,
    roles: Object.fromEntries(roles),
    permissions: Object.fromEntries(roles.map(([slug, role]) => [slug, [...ROLE_PERMISSIONS[role]]])),
  };
}

export function projectMembers(from: MembersView): MembersView {
  return {
    rows: from.rows.map((m) => ({
      member_id: m.member_id,
      email: m.email,
      role: m.role,
      status: m.status,
      you: m.you,
      expires_at: m.expires_at,
    })),
    roles: from.roles.map((r) => ({ role: r.role, permissions: [...r.permissions] })),
  };
}

export function projectNewMember(from: NewMemberView): NewMemberView {
  return {
    member_id: from.member_id,
    email: from.email,
    role: from.role,
    status: from.status,
    invitation: from.invitation,
    expires_at: from.expires_at,
  };
}

export function projectKeys(from: TenantKeys, nowMs: number, sight: Sight): KeysView {
  const rows = from.rows.map((key) => ({
    key_id: key.keyId,
    name: key.name,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    expired: key.expiresAt !== undefined && Date.parse(key.expiresAt) <= nowMs,
    allow_models: key.allowModels === undefined ? null : [...key.allowModels],
    allow_addresses: key.allowAddresses === undefined ? null : [...key.allowAddresses],
    limits: key.limits === undefined ? null : projectKeyLimits(key.limits, sight),
  }));
  return { rows: rows.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at)) };
}

export function projectNewKey(from: CreateKeyResponse): NewKeyView {
  return { key_id: from.keyId, key: from.key, name: from.name };
}

type KeyLimits = NonNullable<TenantKeys['rows'][number]['limits']>;

function projectKeyLimits(from: KeyLimits, sight: Sight): CustomerLimits {
  const { requests, tokens, concurrency } = from;
  return {
    requests:
      requests === undefined
        ? null
        : { per_second: requests.perSecond ?? null, per_minute: requests.perMinute ?? null, burst: requests.burst },
    tokens: tokens === undefined ? null : { per_minute: tokens.perMinute },
    concurrency: concurrency === undefined ? null : { in_flight: concurrency.inFlight, queued: concurrency.queued },
    quotas: from.quotas
      .filter((q) => sight.cost || q.meter !== 'cost_nanousd')
      .map((q) => ({ id: q.id, meter: q.meter, span: spanInWords(q.span), limit: q.limit, mode: q.mode })),
  };
}

function spanInWords(span: KeyLimits['quotas'][number]['span']): string {
  return span.kind === 'calendar' ? `calendar ${span.period ?? 'month'}` : `rolling ${span.seconds ?? 0} s`;
}
