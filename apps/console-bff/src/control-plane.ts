import {
  CreateKeyResponse,
  Principal,
  PRINCIPAL_HEADER,
  TenantKeys,
  TenantOverview,
  TenantRequests,
  TenantUsage,
  type Clock,
  type CreateKeyRequest,
} from '@sluice/contracts';
import { ProblemError, signPrincipal } from '@sluice/service-kit';
import { z } from 'zod';

/** What the BFF asks the control plane. Every method throws a ProblemError 502 when it does not answer as agreed. */
export interface ControlPlane {
  /** The person; undefined when e-mail and password do not match. Throws 429 while the account is locked out. */
  signIn(email: string, password: string, address?: string): Promise<Principal | undefined>;
  /** Has a sign-out recorded. Never throws: whoever signs out is signed out. */
  signedOut(principal: Principal): Promise<void>;
  /** Undefined when the workspace is not there. */
  overview(principal: Principal, slug: string): Promise<TenantOverview | undefined>;
  usage(principal: Principal, slug: string, query: Record<string, string>): Promise<TenantUsage | undefined>;
  requests(principal: Principal, slug: string, query: Record<string, string>): Promise<TenantRequests | undefined>;
  keys(principal: Principal, slug: string): Promise<TenantKeys | undefined>;
  /** Throws a ProblemError 400 that names the wrong field when the control plane refuses the key. */
  createKey(principal: Principal, slug: string, key: CreateKeyRequest): Promise<CreateKeyResponse | undefined>;
  /** False when the workspace has no such key. */
  revokeKey(principal: Principal, slug: string, keyId: string): Promise<boolean>;
}

export interface ControlPlaneOptions {
  baseUrl: string;
  token: string;
  principalKey: string;
  clock: Pick<Clock, 'now'>;
  /** Default 5000 ms. */
  timeoutMs?: number;
  /** Told why an answer could not be used. */
  onFault?: (fault: unknown) => void;
}

const Refusal = z.object({ errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]) });
/** Fields of the control plane's keys as the console names them; another one's name is not told. */
const SNAKE: Readonly<Record<string, string>> = { name: 'name', expiresAt: 'expires_at', allowModels: 'allow_models', allowAddresses: 'allow_addresses' };

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { baseUrl, token, principalKey, clock, timeoutMs = 5000, onFault = () => {} } = options;

  function unavailable(fault: unknown): ProblemError {
    onFault(fault);
    return new ProblemError(502, 'The control plane does not answer', { detail: 'Inference is not affected. Try again in a moment.', cause: fault });
  }

  async function call(path: string, init: RequestInit): Promise<{ status: number; headers: Headers; body: unknown }> {
    try {
      const res = await fetch(baseUrl + path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await res.text();
      return { status: res.status, headers: res.headers, body: res.status === 200 || res.status === 201 || res.status === 400 ? JSON.parse(text) : undefined };
    } catch (error) {
      throw unavailable(error);
    }
  }

  function read<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw unavailable(parsed.error);
    return parsed.data;
  }

  const signed = (principal: Principal): Record<string, string> => ({ [PRINCIPAL_HEADER]: signPrincipal(principal, principalKey, clock) });

  async function ask<S extends z.ZodType>(schema: S, principal: Principal, path: string, query: Record<string, string>): Promise<z.output<S> | undefined> {
    const search = new URLSearchParams(query).toString();
    const answer = await call(`${path}${search === '' ? '' : `?${search}`}`, { headers: signed(principal) });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw unavailable(new Error(`the control plane answered ${answer.status}`));
    return read(schema, answer.body);
  }

  async function createKey(principal: Principal, slug: string, key: CreateKeyRequest): Promise<CreateKeyResponse | undefined> {
    const answer = await call(`${workspacePath(slug)}/keys`, {
      method: 'POST',
      headers: { ...signed(principal), 'content-type': 'application/json' },
      body: JSON.stringify(key),
    });
    if (answer.status === 404) return undefined;
    // What the person asked for is wrong, not the control plane: say which field, in the console's own names.
    if (answer.status === 400) throw new ProblemError(400, 'This key cannot be made', { errors: read(Refusal, answer.body).errors.map(({ path, message }) => ({ path: SNAKE[path.split('.')[0] ?? ''] ?? '', message })) });
    if (answer.status !== 201) throw unavailable(new Error(`the control plane answered ${answer.status}`));
    return read(CreateKeyResponse, answer.body);
  }

  async function revokeKey(principal: Principal, slug: string, keyId: string): Promise<boolean> {
    const { status } = await call(`${workspacePath(slug)}/keys/${encodeURIComponent(keyId)}`, { method: 'DELETE', headers: signed(principal) });
    if (status !== 204 && status !== 404) throw unavailable(new Error(`the control plane answered ${status}`));
    return status === 204;
  }

  const workspacePath = (slug: string): string => `/internal/workspaces/${encodeURIComponent(slug)}`;

  return {
    async signIn(email, password, address) {
      const answer = await call('/internal/people/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password, ...(address !== undefined && { address }) }),
      });
      if (answer.status === 401) return undefined;
      if (answer.status === 429) {
        const retryAfter = answer.headers.get('retry-after');
        throw new ProblemError(429, 'Too many failed attempts', {
          detail: 'Wait before you try again.',
          headers: retryAfter !== null && /^\d+$/.test(retryAfter) ? { 'retry-after': retryAfter } : {},
        });
      }
      if (answer.status !== 200) throw unavailable(new Error(`the control plane answered ${answer.status}`));
      return read(Principal, answer.body);
    },
    async signedOut(principal) {
      try {
        await call('/internal/people/session/ended', { method: 'POST', headers: { [PRINCIPAL_HEADER]: signPrincipal(principal, principalKey, clock) } });
      } catch {
        // `call` has told of it.
      }
    },
    overview: (principal, slug) => ask(TenantOverview, principal, `${workspacePath(slug)}/overview`, {}),
    usage: (principal, slug, query) => ask(TenantUsage, principal, `${workspacePath(slug)}/usage`, query),
    requests: (principal, slug, query) => ask(TenantRequests, principal, `${workspacePath(slug)}/requests`, query),
    keys: (principal, slug) => ask(TenantKeys, principal, `${workspacePath(slug)}/keys`, {}),
    createKey,
    revokeKey,
  };
}
