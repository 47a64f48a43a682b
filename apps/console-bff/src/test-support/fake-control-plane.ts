import { createServer, type IncomingMessage } from 'node:http';
import { PRINCIPAL_HEADER, type Clock, type OpenedSession, type Principal, type Role } from '@sluice/contracts';
import { listenOn, verifyPrincipal, type Listening } from '@sluice/service-kit';
import { BODIES, conflictBody } from './upstream-bodies.ts';

export const BFF_TOKEN = 'token-of-the-bff-0123';
export const PRINCIPAL_KEY = 'principal-key-of-this-test';
export const PASSWORD = 'correct horse';

/** An invitation that is valid, and an `If-Match` that is not any more. */
export const INVITATION = 'i'.repeat(43);
export const STALE = '"6"';
const INSTANT = '2027-01-22T08:00:00.000Z';

/** The proof that every sign-in gives. */
export const DEVICE = 'abc123.proof-of-the-device.signed';

/** What must never reach a customer. */
export const SECRET_FIELD = 'internal_margin_usd';

/** Adds the secret to every object, however deep. */
function poison(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(poison);
  if (typeof value !== 'object' || value === null) return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, poison(inner)])),
    [SECRET_FIELD]: 12345,
  };
}

/** What was said of a sign-in besides the credentials. */
interface SignInFrom {
  readonly address?: string | undefined;
  readonly device?: string | undefined;
}

export interface FakeControlPlane extends Listening {
  readonly signIns: readonly SignInFrom[];
  /** Answers nothing about a workspace until what comes is called. */
  hang(slug: string): () => void;
  /** `<method> <path>` of each call, in order. */
  readonly calls: string[];
  /** The principal of the last workspace call, as its signature proved it. */
  lastPrincipal: Principal | undefined;
  lastBody: unknown;
  /** Roles of everybody when they are asked for again; undefined for people who are gone. */
  roles: Principal['roles'] | undefined;
  /** Answers every call so from now on. */
  failWith: { status: number; body: string; headers?: Record<string, string> } | undefined;
}

/** A control plane over a real socket whose people are `<role>@<workspace>`, and which tells too much on purpose. */
export async function startFakeControlPlane(clock: Pick<Clock, 'now'>): Promise<FakeControlPlane> {
  const calls: string[] = [];
  const signIns: SignInFrom[] = [];
  const hanging = new Map<string, Promise<void>>();
  const sessions = new Map<string, OpenedSession>();
  const state: Pick<FakeControlPlane, 'lastPrincipal' | 'lastBody' | 'failWith' | 'roles'> = {
    lastPrincipal: undefined,
    lastBody: undefined,
    failWith: undefined,
    roles: {},
  };

  function answerTo(req: IncomingMessage, body: string): { status: number; body?: unknown; etag?: string } {
    if (req.headers.authorization !== `Bearer ${BFF_TOKEN}`) return { status: 401 };
    if (req.url === '/internal/people/session') {
      const { email, password, address, device } = JSON.parse(body) as Record<'email' | 'password', string> &
        SignInFrom;
      signIns.push({ address, device });
      if (password !== PASSWORD) return { status: 401 };
      const [role, slug = ''] = email.split('@') as [Role, string];
      return {
        status: 200,
        body: {
          kind: 'person',
          userId: `u-${email}`,
          email,
          roles: { [slug]: role },
          device: DEVICE,
          [SECRET_FIELD]: 1,
        },
      };
    }
    if (req.url === '/internal/people/invitations' && req.method === 'POST')
      return { status: (JSON.parse(body) as { invitation: string }).invitation === INVITATION ? 204 : 401 };
    if (req.url === '/internal/people/sessions' && req.method === 'POST') {
      const opened = JSON.parse(body) as OpenedSession;
      sessions.set(opened.token_digest, opened);
      return { status: 204 };
    }
    if (req.url === '/internal/people/sessions/seen') {
      const digest = (JSON.parse(body) as { token_digest: string }).token_digest;
      const session = sessions.get(digest)?.session;
      if (state.roles === undefined) sessions.delete(digest);
      if (session === undefined || state.roles === undefined || Date.parse(session.expires_at) <= clock.now())
        return { status: 404 };
      return {
        status: 200,
        body: {
          session,
          principal: {
            kind: 'person',
            userId: session.user_id,
            email: session.user_id.slice(2),
            roles: state.roles,
            [SECRET_FIELD]: 1,
          },
          [SECRET_FIELD]: 1,
        },
      };
    }
    state.lastPrincipal = verifyPrincipal(String(req.headers[PRINCIPAL_HEADER]), PRINCIPAL_KEY, clock);
    if (state.lastPrincipal === undefined) return { status: 401 };
    const { userId } = state.lastPrincipal;
    if (req.url === '/internal/people/sessions')
      return {
        status: 200,
        body: { rows: [...sessions.values()].filter(({ session }) => session.user_id === userId).toReversed() },
      };
    if (req.url === '/internal/people/invitations')
      return {
        status: 200,
        body: poison({
          rows: [{ invitation_id: 'inv_1', workspace: 'globex-prod', role: 'viewer', expires_at: INSTANT }],
        }),
      };
    if (req.url?.startsWith('/internal/people/invitations/') === true) {
      if (!req.url.endsWith('/inv_1')) return { status: 404 };
      if (req.method === 'DELETE' || (JSON.parse(body) as { invitation: string }).invitation === INVITATION)
        return { status: 204 };
      return { status: 400, body: poison({ errors: [{ path: 'invitation', message: 'is not the code' }] }) };
    }
    if (req.url === '/internal/people/password') {
      const { old_password } = JSON.parse(body) as { old_password: string };
      if (old_password !== PASSWORD)
        return {
          status: 400,
          body: poison({
            title: 'The password was not changed',
            errors: [{ path: 'old_password', message: 'is not the password you have' }],
          }),
        };
      for (const [digest, { session }] of sessions) if (session.user_id === userId) sessions.delete(digest);
      return { status: 204 };
    }
    if (req.url === '/internal/people/sessions/ended') {
      for (const digest of (JSON.parse(body) as { token_digests: string[] }).token_digests)
        if (sessions.get(digest)?.session.user_id === userId) sessions.delete(digest);
      return { status: 204 };
    }
    const [, slug = '', what = '', rest = ''] =
      /^\/internal\/workspaces\/([^/?]+)\/(\w+)(?:\/([^?]*))?/.exec(req.url ?? '') ?? [];
    if (what === 'keys' && req.method === 'POST') {
      const { name, allowModels } = JSON.parse(body) as { name: string; allowModels?: string[] };
      if (allowModels?.includes('gone') === true)
        return {
          status: 400,
          body: poison({
            title: 'No',
            errors: [
              { path: 'allowModels.0', message: 'there is no model gone' },
              { path: SECRET_FIELD, message: 'x' },
            ],
          }),
        };
      return { status: 201, body: poison({ keyId: 'acmeKey00003', key: 'sk-sluice-acmeKey00003-77', name }) };
    }
    if (what === 'keys' && req.method === 'DELETE')
      return { status: req.url?.endsWith('/nosuchkey000') === true ? 404 : 204 };
    if (req.method === 'PUT' && req.headers['if-match'] === STALE)
      return { status: 412, body: poison(conflictBody(slug)), etag: '"7"' };
    const made = slug === 'gone-prod' ? undefined : BODIES[`${req.method} ${what}`]?.(slug, rest);
    return made === undefined
      ? { status: 404 }
      : {
          status: made.status ?? 200,
          body: poison(made.body),
          ...(made.etag === undefined ? {} : { etag: made.etag }),
        };
  }

  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', async () => {
      await hanging.get(/workspaces\/([^/]+)/.exec(req.url ?? '')?.[1] ?? '');
      calls.push(`${req.method} ${req.url}`);
      state.lastBody = body === '' ? undefined : (JSON.parse(body) as unknown);
      if (state.failWith !== undefined) {
        res.writeHead(state.failWith.status, state.failWith.headers).end(state.failWith.body);
        return;
      }
      const answer = answerTo(req, body);
      res.writeHead(answer.status, {
        'content-type': 'application/json',
        ...(answer.etag === undefined ? {} : { etag: answer.etag }),
      });
      res.end(answer.status === 204 ? undefined : JSON.stringify(answer.body ?? {}));
    });
  });
  const listening = await listenOn(server, { host: '127.0.0.1', port: 0, graceMs: 10 });
  return Object.assign(state, listening, {
    calls,
    signIns,
    hang: (slug: string) => {
      let release = (): void => undefined;
      hanging.set(slug, new Promise<void>((resolve) => (release = resolve)));
      return release;
    },
  });
}
