import { ProblemError } from '@sluice/service-kit';
import { Problem } from '@sluice/contracts';

/** The routing service as the control plane asks it. */
export interface RouterClient {
  /** @throws ProblemError with the router's own status and words; 503 when it does not answer. */
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
}

const TIMEOUT_MS = 5_000;
/** Pictures of a router with many decisions. */
const MAX_BYTES = 8 * 1024 * 1024;

/** @param deps without a URL or token nothing is asked, and every answer says why. */
export function createRouterClient(deps: {
  url: string | undefined;
  token: string | undefined;
  fetch?: typeof fetch;
}): RouterClient {
  const { url, token, fetch: doFetch = fetch } = deps;

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    if (url === undefined || token === undefined)
      throw new ProblemError(503, 'No router is configured', {
        detail: 'SLUICE_ROUTER_URL and SLUICE_TOKEN_ROUTER are not set.',
      });
    let answer: Response;
    let text: string;
    try {
      answer = await doFetch(new URL(path, url), {
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await answer.text();
    } catch {
      throw new ProblemError(503, 'The router does not answer', {
        detail: 'Gateways go on with the last policy that they have.',
      });
    }
    if (text.length > MAX_BYTES) throw new ProblemError(502, 'The answer of the router is too large');
    const parsed = parse(text);
    if (answer.ok) return parsed;
    const problem = Problem.partial().safeParse(parsed).data;
    // Its own 401 and 403 are about the control plane's token, never about who asks here.
    const status = answer.status === 401 || answer.status === 403 ? 502 : answer.status;
    throw new ProblemError(
      status,
      problem?.title ?? 'The router refused',
      problem?.detail === undefined ? {} : { detail: problem.detail },
    );
  }

  return { get: (path) => call('GET', path), post: (path, body) => call('POST', path, body) };
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    throw new ProblemError(502, 'The router answered with something that is not JSON');
  }
}
