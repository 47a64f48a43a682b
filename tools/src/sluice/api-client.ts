import { Problem } from '@sluice/contracts';
import { CliError } from './cli-error.ts';

/** An answer that is no success, with what the control plane said of it. */
export class ApiError extends CliError {
  readonly status: number;
  readonly problem: Problem | undefined;
  constructor(method: string, path: string, status: number, problem: Problem | undefined, text: string) {
    const said =
      problem === undefined
        ? text.slice(0, 300)
        : [problem.title, problem.detail].filter((part) => part !== undefined).join(': ');
    const fields = (problem?.errors ?? [])
      .map((fault) => `\n  ${fault.path === '' ? '' : `${fault.path}: `}${fault.message}`)
      .join('');
    super(`${method} ${path} answered ${status}: ${said}${fields}`);
    this.status = status;
    this.problem = problem;
  }
}

export interface ApiAnswer {
  readonly body: unknown;
  readonly etag: string | undefined;
}

/** The operator API with a session of this command, which `close` ends. */
export interface ApiClient {
  /** @throws ApiError for an answer that is no success; CliError when there is none. */
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  close(): Promise<void>;
}

export interface Connection {
  readonly url: string;
  /** A session that is there already, or who signs in. */
  readonly credential: { readonly token: string } | { readonly user: string; readonly password: string };
}

const TIMEOUT_MS = 60_000;

/** Signs in when the first request is sent. */
export function createApiClient({ url, credential }: Connection): ApiClient {
  const base = url.replace(/\/+$/, '');
  let token = 'token' in credential ? credential.token : undefined;

  async function request(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer> {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: Error) => {
      throw new CliError(`The control plane at ${base} does not answer: ${reasonOf(error)}`);
    });
    const text = await response.text();
    const parsed = parseJson(text);
    if (!response.ok) throw new ApiError(method, path, response.status, Problem.safeParse(parsed).data, text);
    return { body: parsed, etag: response.headers.get('etag') ?? undefined };
  }

  return {
    send: async (method, path, body, headers = {}) => {
      if (token === undefined && 'user' in credential) {
        const { body: session } = await request(
          'POST',
          '/api/session',
          { user: credential.user, password: credential.password, bearer: true },
          {},
        );
        token = String((session as { token?: unknown }).token);
      }
      return request(method, path, body, headers);
    },
    close: async () => {
      if ('token' in credential || token === undefined) return;
      // The session ends by itself later when this fails.
      await request('DELETE', '/api/session', undefined, {}).catch(() => undefined);
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function reasonOf(error: Error): string {
  const cause = error.cause as { code?: unknown; message?: unknown } | undefined;
  return String(cause?.code ?? cause?.message ?? error.message);
}
