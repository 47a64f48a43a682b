import type {
  ArmsAnswer,
  ChaosMenuItem,
  CreateKeyResponse,
  DecisionView,
  DriftAnswer,
  HoldDrift,
  LedgerPage,
  OperatorRole,
  OperatorState,
  Policy,
  PolicyOverride,
  RedriveAnswer,
  RolloutView,
  StorageAnswer,
  TenantProfileView,
} from '@sluice/contracts';
import { ApiError, type Versioned } from './call.ts';
import { createPeopleApi, type PeopleApi } from './people-api.ts';
import { createTableApi, type TableApi } from './table-api.ts';

export type Fetcher = (path: string, init?: RequestInit) => Promise<Response>;

export interface Session {
  readonly user: string;
  readonly role: OperatorRole;
}

export interface PolicyDocument extends Versioned<PolicyOverride> {
  readonly effective: Policy;
}

export interface KeyView {
  readonly keyId: string;
  readonly name: string;
  readonly workspace: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
}

export interface LedgerQuery {
  readonly tenant?: string;
  readonly request_id?: string;
  readonly outcome?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** What a person may do to a rollout. */
export type RolloutDeed = 'start' | 'abort' | 'reset';

/** What the console asks of the control plane. All calls are same-origin; the session is a cookie. */
export interface OperatorApi {
  session(): Promise<Session>;
  signIn(user: string, password: string): Promise<void>;
  signOut(): Promise<void>;
  state(): Promise<OperatorState>;
  /** Calls `onState` each second, `onLost` whenever the stream breaks; the returned function ends it. */
  watch(onState: (state: OperatorState) => void, onLost: () => void): () => void;
  chaosMenu(): Promise<ChaosMenuItem[]>;
  startChaos(item: Pick<ChaosMenuItem, 'path' | 'body'>): Promise<void>;
  stopChaos(): Promise<void>;
  redrive(queue: string): Promise<RedriveAnswer>;
  ledger(query: LedgerQuery): Promise<LedgerPage>;
  policy(slug: string): Promise<PolicyDocument>;
  savePolicy(slug: string, override: unknown, version: number): Promise<void>;
  keys(slug: string): Promise<KeyView[]>;
  createKey(slug: string, name: string): Promise<CreateKeyResponse>;
  rotateKey(keyId: string, graceSeconds: number): Promise<CreateKeyResponse>;
  revokeKey(keyId: string): Promise<void>;
  readonly tables: TableApi;
  readonly people: PeopleApi;
  readonly router: {
    arms(): Promise<ArmsAnswer>;
    drift(): Promise<DriftAnswer>;
    holdDrift(step: HoldDrift['step'], reason: string): Promise<void>;
    releaseDrift(reason: string): Promise<void>;
    storage(): Promise<StorageAnswer>;
    tenants(): Promise<{ readonly tenants: readonly TenantProfileView[] }>;
    rollouts(): Promise<{ readonly rollouts: readonly RolloutView[] }>;
    decisions(): Promise<{ readonly decisions: readonly DecisionView[] }>;
    act(id: string, deed: RolloutDeed, reason: string): Promise<void>;
  };
}

/** As much of `EventSource` as is used. */
export type OpenStream = (path: string) => Pick<EventSource, 'addEventListener' | 'close'>;

export function createOperatorApi(fetcher: Fetcher, openStream: OpenStream): OperatorApi {
  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await fetcher(path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }
  async function read<T>(path: string): Promise<T> {
    return (await (await call('GET', path)).json()) as T;
  }
  async function send<T>(path: string, body?: unknown): Promise<T> {
    return (await (await call('POST', path, body)).json()) as T;
  }
  const at = (version: number): Record<string, string> => ({ 'if-match': `"${version}"` });
  const part = encodeURIComponent;
  return {
    session: () => read('/api/session'),
    signIn: async (user, password) => void (await call('POST', '/api/session', { user, password })),
    signOut: async () => void (await call('DELETE', '/api/session')),
    state: () => read('/api/state'),
    watch(onState, onLost) {
      const stream = openStream('/api/state/stream');
      stream.addEventListener('state', (event) =>
        onState(JSON.parse((event as MessageEvent<string>).data) as OperatorState),
      );
      stream.addEventListener('error', onLost);
      return () => stream.close();
    },
    chaosMenu: () => read('/api/chaos/menu'),
    startChaos: async ({ path, body }) => void (await call('POST', path, body)),
    stopChaos: async () => void (await call('POST', '/api/chaos/stop')),
    redrive: (queue) => send(`/api/dlqs/${part(queue)}/redrive`),
    ledger: (query) =>
      read(`/api/ledger?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`),
    policy: async (slug) => {
      const { override, effective, version } = await read<{
        override: PolicyOverride;
        effective: Policy;
        version: number;
      }>(`/api/workspaces/${part(slug)}/policy`);
      return { value: override, effective, version };
    },
    savePolicy: async (slug, override, version) =>
      void (await call('PUT', `/api/workspaces/${part(slug)}/policy`, override, at(version))),
    keys: async (slug) => (await read<{ rows: KeyView[] }>(`/api/workspaces/${part(slug)}/keys`)).rows,
    createKey: (slug, name) => send(`/api/workspaces/${part(slug)}/keys`, { name }),
    rotateKey: (keyId, graceSeconds) => send(`/api/keys/${part(keyId)}/rotate`, { graceSeconds }),
    revokeKey: async (keyId) => void (await call('DELETE', `/api/keys/${part(keyId)}`)),
    tables: createTableApi(call),
    people: createPeopleApi(call),
    router: {
      arms: () => read('/api/router/arms'),
      drift: () => read('/api/router/drift'),
      holdDrift: async (step, reason) => void (await call('POST', '/api/router/drift/hold', { step, reason })),
      releaseDrift: async (reason) => void (await call('POST', '/api/router/drift/release', { reason })),
      storage: () => read('/api/router/storage'),
      tenants: () => read('/api/router/tenants'),
      rollouts: () => read('/api/router/rollouts'),
      decisions: () => read('/api/router/decisions?limit=20'),
      act: async (id, deed, reason) =>
        void (await call('POST', `/api/router/rollouts/${part(id)}/${deed}`, { reason })),
    },
  };
}

async function errorOf(response: Response): Promise<ApiError> {
  try {
    const problem = (await response.json()) as {
      title?: string;
      detail?: string;
      errors?: ApiError['fields'];
      versions?: NonNullable<ApiError['versions']>;
    };
    return new ApiError(
      response.status,
      problem.detail ?? problem.title ?? `The control plane answered ${response.status}.`,
      problem.errors,
      problem.versions,
    );
  } catch {
    return new ApiError(response.status, `The control plane answered ${response.status}.`);
  }
}
