import {
  OwnInvitationsView,
  OwnSessions,
  PersonSessionResponse,
  PRINCIPAL_HEADER,
  SeenSessionResponse,
  type AcceptInvitationRequest,
  type ChangePasswordRequest,
  type Clock,
  type OpenedSession,
  type TakeOwnInvitationRequest,
  type Principal,
} from '@sluice/contracts';
import { ProblemError, signPrincipal, type FieldFault } from '@sluice/service-kit';
import { z } from 'zod';

/** In whose name and of which workspace something is asked. */
export interface Scope {
  readonly principal: Principal;
  readonly slug: string;
}

/** Who tries a password: the client's address, and the proof that its device brought. */
export interface From {
  readonly address: string | undefined;
  readonly device: string | undefined;
}

export interface Asked<T> {
  readonly value: T;
  /** Version of what was read, for `If-Match`. */
  readonly etag: string | undefined;
}

export interface Change {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** Below the workspace, such as `/keys`; parts that a caller gave are encoded. */
  readonly path: string;
  readonly body?: unknown;
  readonly ifMatch?: string | undefined;
}

export type Changed<T> =
  | ({ readonly kind: 'done' } & Asked<T>)
  | { readonly kind: 'conflict'; readonly body: unknown; readonly etag: string | undefined }
  | { readonly kind: 'missing' };

/**
 * What the BFF asks the control plane, always in a person's name, who is signed into each call. Every method throws
 * a ProblemError 502 when it does not answer as agreed, and 400 or 409 with the control plane's words for people
 * when it refuses what the person sent.
 */
export interface ControlPlane {
  /**
   * The person, and the proof of this sign-in for the device; undefined when e-mail and password do not match. Throws
   * 429 for a caller who would wait too long.
   */
  signIn(
    email: string,
    password: string,
    from: From,
  ): Promise<{ principal: Principal; device: string | undefined } | undefined>;
  /** Keeps a session that was opened. */
  openSession(opened: OpenedSession): Promise<void>;
  /** A session is used: it, and the person with the roles of now; undefined once the session or the account is gone. */
  seenSession(tokenDigest: string): Promise<SeenSessionResponse | undefined>;
  /** A person's sessions, newest first. */
  sessionsOf(principal: Principal): Promise<readonly OpenedSession[]>;
  /** Ends sessions of the person; harmless when they have ended. */
  endSessions(principal: Principal, tokenDigests: readonly string[]): Promise<void>;
  /**
   * Also ends every session of the person. Throws 400 with the field that is wrong, 429 for a caller who would wait
   * too long.
   */
  changePassword(principal: Principal, request: ChangePasswordRequest): Promise<void>;
  /** Throws 401 for an invitation that is not valid or a wrong password, 429 for a caller who would wait too long. */
  acceptInvitation(request: AcceptInvitationRequest, from: From): Promise<void>;
  /** A person's own open invitations. */
  invitationsOf(principal: Principal): Promise<OwnInvitationsView>;
  /** False when the person has no such invitation. Throws 400 for a wrong secret. */
  takeInvitation(principal: Principal, id: string, request: TakeOwnInvitationRequest): Promise<boolean>;
  /** False when the person has no such invitation. */
  declineInvitation(principal: Principal, id: string): Promise<boolean>;
  /** Undefined when the workspace, or the thing in it, is not there. */
  read<S extends z.ZodType>(
    schema: S,
    scope: Scope,
    path: string,
    query?: Readonly<Record<string, string>>,
  ): Promise<Asked<z.output<S>> | undefined>;
  change<S extends z.ZodType>(schema: S, scope: Scope, change: Change): Promise<Changed<z.output<S>>>;
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

const Refusal = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
});
/** The control plane may say more. */
const OwnInvitation = OwnInvitationsView.shape.rows.element.strip();
/** A test of a webhook waits for its receiver. */
const SLOW_MS = 15_000;
/** Wrong passwords are answered slowly, and a right one may wait for its turn. */
const SIGN_IN_MS = 10_000;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { baseUrl, token, principalKey, clock, timeoutMs = 5000, onFault = () => {} } = options;

  function unavailable(fault: unknown): ProblemError {
    onFault(fault);
    return new ProblemError(502, 'The control plane does not answer', {
      detail: 'Inference is not affected. Try again in a moment.',
      cause: fault,
    });
  }

  async function call(path: string, init: RequestInit, limitMs = timeoutMs): Promise<Answer> {
    try {
      const res = await fetch(baseUrl + path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` },
        redirect: 'error',
        signal: AbortSignal.timeout(limitMs),
      });
      return { status: res.status, headers: res.headers, text: await res.text() };
    } catch (error) {
      throw unavailable(error);
    }
  }

  function parse<S extends z.ZodType>(schema: S, text: string): z.output<S> {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (error) {
      throw unavailable(error);
    }
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw unavailable(parsed.error);
    return parsed.data;
  }

  /** What a person did wrong, in the control plane's words; nothing else of its answer. */
  function refusal({ status, headers, text }: Answer): ProblemError {
    if (status === 403) return new ProblemError(403, 'Your role in this workspace does not allow this');
    if (status === 429) return tooMuch(headers);
    if (status !== 400 && status !== 409 && status !== 428)
      return unavailable(new Error(`the control plane answered ${status}`));
    const { title, detail, errors } = parse(Refusal, text);
    const faults: FieldFault[] = errors.map(({ path, message }) => ({ path, message }));
    return new ProblemError(status, title ?? 'The request was refused', {
      ...(detail === undefined ? {} : { detail }),
      ...(faults.length === 0 ? {} : { errors: faults }),
    });
  }

  const signed = (principal: Principal): Record<string, string> => ({
    [PRINCIPAL_HEADER]: signPrincipal(principal, principalKey, clock),
  });
  const json = { 'content-type': 'application/json' };
  const pathOf = ({ slug }: Scope, path: string): string => `/internal/workspaces/${encodeURIComponent(slug)}${path}`;
  const etagOf = ({ headers }: Answer): string | undefined => headers.get('etag') ?? undefined;

  return {
    async signIn(email, password, from) {
      const answer = await call(
        '/internal/people/session',
        {
          method: 'POST',
          headers: json,
          body: JSON.stringify({ email, password, ...from }),
        },
        SIGN_IN_MS,
      );
      if (answer.status === 401) return undefined;
      if (answer.status !== 200) throw refusal(answer);
      const { device, ...principal } = parse(PersonSessionResponse, answer.text);
      return { principal, device };
    },
    async openSession(opened) {
      const answer = await call('/internal/people/sessions', {
        method: 'POST',
        headers: json,
        body: JSON.stringify(opened),
      });
      if (answer.status !== 204) throw refusal(answer);
    },
    async seenSession(tokenDigest) {
      const answer = await call('/internal/people/sessions/seen', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ token_digest: tokenDigest }),
      });
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw refusal(answer);
      return parse(SeenSessionResponse, answer.text);
    },
    async sessionsOf(principal) {
      const answer = await call('/internal/people/sessions', { headers: signed(principal) });
      if (answer.status !== 200) throw refusal(answer);
      return parse(OwnSessions, answer.text).rows;
    },
    async endSessions(principal, tokenDigests) {
      if (tokenDigests.length === 0) return;
      const answer = await call('/internal/people/sessions/ended', {
        method: 'POST',
        headers: { ...json, ...signed(principal) },
        body: JSON.stringify({ token_digests: tokenDigests }),
      });
      if (answer.status !== 204) throw refusal(answer);
    },
    async changePassword(principal, request) {
      const answer = await call('/internal/people/password', {
        method: 'POST',
        headers: { ...json, ...signed(principal) },
        body: JSON.stringify(request),
      });
      if (answer.status !== 204) throw refusal(answer);
    },
    async acceptInvitation(request, from) {
      const answer = await call(
        '/internal/people/invitations',
        {
          method: 'POST',
          headers: json,
          body: JSON.stringify({ ...request, ...from }),
        },
        SIGN_IN_MS,
      );
      if (answer.status === 401)
        throw new ProblemError(401, 'The invitation is not valid, or the password is not that of the account');
      if (answer.status !== 204) throw refusal(answer);
    },
    async invitationsOf(principal) {
      const answer = await call('/internal/people/invitations', { headers: signed(principal) });
      if (answer.status !== 200) throw refusal(answer);
      return parse(z.object({ rows: z.array(OwnInvitation) }), answer.text);
    },
    async takeInvitation(principal, id, request) {
      const answer = await call(`/internal/people/invitations/${encodeURIComponent(id)}`, {
        method: 'POST',
        headers: { ...json, ...signed(principal) },
        body: JSON.stringify(request),
      });
      if (answer.status !== 204 && answer.status !== 404) throw refusal(answer);
      return answer.status === 204;
    },
    async declineInvitation(principal, id) {
      const answer = await call(`/internal/people/invitations/${encodeURIComponent(id)}`, {
        method: 'DELETE',
        headers: signed(principal),
      });
      if (answer.status !== 204 && answer.status !== 404) throw refusal(answer);
      return answer.status === 204;
    },
    async read(schema, scope, path, query = {}) {
      const search = new URLSearchParams(query).toString();
      const answer = await call(`${pathOf(scope, path)}${search === '' ? '' : `?${search}`}`, {
        headers: signed(scope.principal),
      });
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw refusal(answer);
      return { value: parse(schema, answer.text), etag: etagOf(answer) };
    },
    async change(schema, scope, { method, path, body, ifMatch }) {
      const answer = await call(
        pathOf(scope, path),
        {
          method,
          headers: {
            ...signed(scope.principal),
            ...(body === undefined ? {} : json),
            ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        Math.max(timeoutMs, SLOW_MS),
      );
      if (answer.status === 404) return { kind: 'missing' };
      if (answer.status === 412)
        return { kind: 'conflict', body: parse(z.unknown(), answer.text), etag: etagOf(answer) };
      if (answer.status < 200 || answer.status > 204) throw refusal(answer);
      return {
        kind: 'done',
        value: answer.status === 204 ? parse(schema, '{}') : parse(schema, answer.text),
        etag: etagOf(answer),
      };
    },
  };
}

/** Both of the control plane's refusals are for people; how long to wait is passed on as it is. */
function tooMuch(headers: Headers): ProblemError {
  const retryAfter = headers.get('retry-after');
  const waits = retryAfter !== null && /^\d+$/.test(retryAfter);
  return new ProblemError(429, 'Too many requests at once', {
    detail: waits ? `Try again in ${retryAfter} s.` : 'Wait before you try again.',
    headers: waits ? { 'retry-after': retryAfter } : {},
  });
}
