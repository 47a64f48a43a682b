import type {
  AcceptInvitationRequest,
  AlertsView,
  BillingRequest,
  BillingView,
  ChangePasswordRequest,
  CustomerOverride,
  DeliveriesView,
  KeysView,
  MembersView,
  MemberRequest,
  ModelsView,
  NewKeyRequest,
  NewKeyView,
  NewMemberRequest,
  NewMemberView,
  NewWebhookView,
  OverviewView,
  OwnInvitationsView,
  PlaygroundRequest,
  PolicyView,
  RequestsView,
  RequestView,
  SeriesView,
  SessionsView,
  SessionView,
  TakeOwnInvitationRequest,
  UsageView,
  WebhookRequest,
  WebhooksView,
  WebhookView,
} from '@sluice/contracts';
import { ApiError, ask, at, json } from './http.ts';

const body = async <T>(path: string, init?: RequestInit): Promise<T> => (await ask<T>(path, init)).body;
const one = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`;
const remove: RequestInit = { method: 'DELETE' };

/** What can be asked of the usage of a workspace; instants in UTC. */
export interface UsageQuery {
  readonly from: string;
  readonly to: string;
  readonly step: 'hour' | 'day';
  readonly by: UsageView['by'];
}

export interface RequestFilters {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly outcome?: string | undefined;
  readonly model?: string | undefined;
  readonly feature?: string | undefined;
  readonly key?: string | undefined;
  readonly request_id?: string | undefined;
}

/** The console's backend. Everything but the session is of one workspace. @throws ApiError */
export const consoleApi = {
  /** Null when nobody is signed in. */
  session: () =>
    body<SessionView>('/api/session').catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }),
  signIn: (email: string, password: string) => body<SessionView>('/api/session', json('POST', { email, password })),
  signOut: () => body<void>('/api/session', remove),
  acceptInvitation: (accept: AcceptInvitationRequest) => body<void>('/api/invitations', json('POST', accept)),
  invitations: () => body<OwnInvitationsView>('/api/invitations'),
  takeInvitation: (id: string, take: TakeOwnInvitationRequest) =>
    body<void>(one('/api/invitations', id), json('POST', take)),
  declineInvitation: (id: string) => body<void>(one('/api/invitations', id), remove),
  changePassword: (change: ChangePasswordRequest) => body<void>('/api/password', json('POST', change)),
  sessions: () => body<SessionsView>('/api/sessions'),
  endSession: (id: string) => body<void>(one('/api/sessions', id), remove),

  overview: (workspace: string) => body<OverviewView>(at('/api/overview', { workspace })),
  series: (workspace: string, metric: SeriesView['metric'], from: string, to: string, points: number) =>
    body<SeriesView>(at('/api/series', { workspace, metric, from, to, points })),
  usage: (workspace: string, query: UsageQuery) => body<UsageView>(at('/api/usage', { workspace, ...query })),
  usageCsvUrl: (workspace: string, query: UsageQuery) => at('/api/usage', { workspace, ...query, format: 'csv' }),
  requests: (workspace: string, filters: RequestFilters, cursor: string | null) =>
    body<RequestsView>(at('/api/requests', { workspace, ...filters, cursor })),
  request: (workspace: string, id: string) => body<RequestView>(at(one('/api/requests', id), { workspace })),
  models: (workspace: string) => body<ModelsView>(at('/api/models', { workspace })),

  keys: (workspace: string) => body<KeysView>(at('/api/keys', { workspace })),
  createKey: (workspace: string, key: NewKeyRequest) =>
    body<NewKeyView>(at('/api/keys', { workspace }), json('POST', key)),
  revokeKey: (workspace: string, keyId: string) => body<void>(at(one('/api/keys', keyId), { workspace }), remove),

  policy: (workspace: string) => body<PolicyView>(at('/api/policy', { workspace })),
  savePolicy: (workspace: string, override: CustomerOverride, version: number) =>
    body<PolicyView>(at('/api/policy', { workspace }), json('PUT', override, { 'if-match': `"${version}"` })),

  members: (workspace: string) => body<MembersView>(at('/api/members', { workspace })),
  addMember: (workspace: string, member: NewMemberRequest) =>
    body<NewMemberView>(at('/api/members', { workspace }), json('POST', member)),
  changeRole: (workspace: string, id: string, role: MemberRequest['role']) =>
    body<void>(at(one('/api/members', id), { workspace }), json('PUT', { role })),
  removeMember: (workspace: string, id: string) => body<void>(at(one('/api/members', id), { workspace }), remove),

  billing: (workspace: string) => body<BillingView>(at('/api/billing', { workspace })),
  saveBilling: (workspace: string, change: BillingRequest, version: number) =>
    body<BillingView>(at('/api/billing', { workspace }), json('PUT', change, { 'if-match': `"${version}"` })),
  statementUrl: (workspace: string, month: string, format: 'csv' | 'json') =>
    at('/api/billing/statement', { workspace, month, format }),

  alerts: (workspace: string, cursor: string | null) => body<AlertsView>(at('/api/alerts', { workspace, cursor })),
  webhooks: (workspace: string) => body<WebhooksView>(at('/api/webhooks', { workspace })),
  createWebhook: (workspace: string, webhook: WebhookRequest) =>
    body<NewWebhookView>(at('/api/webhooks', { workspace }), json('POST', webhook)),
  saveWebhook: (workspace: string, id: string, webhook: WebhookRequest) =>
    body<WebhookView>(at(one('/api/webhooks', id), { workspace }), json('PUT', webhook)),
  removeWebhook: (workspace: string, id: string) => body<void>(at(one('/api/webhooks', id), { workspace }), remove),
  testWebhook: (workspace: string, id: string) =>
    body<DeliveriesView>(at(`${one('/api/webhooks', id)}/test`, { workspace }), json('POST', {})),
  deliveries: (workspace: string, id: string) =>
    body<DeliveriesView>(at(`${one('/api/webhooks', id)}/deliveries`, { workspace })),

  /** The stream as it comes. A refusal of the gateway is a Response as well, so that its headers can be read. */
  playground: (workspace: string, call: PlaygroundRequest, signal: AbortSignal) =>
    fetch(at('/api/playground', { workspace }), { ...json('POST', call), signal }),
};
