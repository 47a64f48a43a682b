import type { KeysView, NewKeyRequest, NewKeyView, OverviewView, Problem, RequestsView, SessionView, UsageView } from '@sluice/contracts';

/** The backend refused or failed; the message is for people. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const res = await fetch(path, init).catch(() => {
    throw new ApiError(0, 'The console server does not answer.');
  });
  if (res.status === 204) return undefined as T;
  const body: unknown = await res.json().catch(() => undefined);
  if (res.ok) return body as T;
  const { title, detail, errors } = (body ?? {}) as Partial<Problem>;
  const fields = (errors ?? []).map(({ path, message }) => (path === '' ? message : `${path.replaceAll('_', ' ')}: ${message}`)).join('; ');
  throw new ApiError(res.status, [title ?? `The server answered ${res.status}`, detail, fields].filter(Boolean).join('. '));
}

const at = (path: string, params: Record<string, string>): string => `${path}?${new URLSearchParams(params).toString()}`;

/** The console's backend. */
export const consoleApi = {
  /** Null when nobody is signed in. */
  session: () =>
    call<SessionView>('/api/session').catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }),
  signIn: (email: string, password: string) =>
    call<SessionView>('/api/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email, password }) }),
  signOut: () => call<void>('/api/session', { method: 'DELETE' }),
  overview: (workspace: string) => call<OverviewView>(at('/api/overview', { workspace })),
  usage: (workspace: string) => call<UsageView>(at('/api/usage', { workspace })),
  keys: (workspace: string) => call<KeysView>(at('/api/keys', { workspace })),
  createKey: (workspace: string, key: NewKeyRequest) =>
    call<NewKeyView>(at('/api/keys', { workspace }), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(key) }),
  revokeKey: (workspace: string, keyId: string) => call<void>(at(`/api/keys/${encodeURIComponent(keyId)}`, { workspace }), { method: 'DELETE' }),
  requests: (workspace: string, cursor: string | null) => call<RequestsView>(at('/api/requests', { workspace, ...(cursor === null ? {} : { cursor }) })),
};
