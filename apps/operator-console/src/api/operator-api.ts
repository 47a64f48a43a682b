import type { ChaosFlood, OperatorState } from '@sluice/contracts';

export type Fetcher = (path: string, init?: RequestInit) => Promise<Response>;

/** An answer that was not 2xx, with the sentence to show. */
export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What the console asks of the control plane. All calls are same-origin; the session is a cookie. */
export interface OperatorApi {
  session(): Promise<object>;
  signIn(user: string, password: string): Promise<void>;
  signOut(): Promise<void>;
  state(): Promise<OperatorState>;
  flood(flood: ChaosFlood): Promise<void>;
  stopChaos(): Promise<void>;
  redrive(queue: string): Promise<void>;
}

export function createOperatorApi(fetcher: Fetcher): OperatorApi {
  async function call(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetcher(path, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new ApiError(response.status, await sentenceOf(response));
    return response;
  }
  return {
    session: async () => (await (await call('GET', '/api/session')).json()) as object,
    signIn: async (user, password) => void (await call('POST', '/api/session', { user, password })),
    signOut: async () => void (await call('DELETE', '/api/session')),
    state: async () => (await (await call('GET', '/api/state')).json()) as OperatorState,
    flood: async (flood) => void (await call('POST', '/api/chaos/flood', flood)),
    stopChaos: async () => void (await call('POST', '/api/chaos/stop')),
    redrive: async (queue) => void (await call('POST', `/api/dlqs/${encodeURIComponent(queue)}/redrive`)),
  };
}

async function sentenceOf(response: Response): Promise<string> {
  try {
    const problem = (await response.json()) as { title?: string; detail?: string };
    return problem.detail ?? problem.title ?? `The control plane answered ${response.status}.`;
  } catch {
    return `The control plane answered ${response.status}.`;
  }
}
