import { createLogger, createMetrics, listen, type Metrics } from '@sluice/service-kit';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createControlPlane } from '../control-plane.ts';
import { createBffApp } from '../create-bff-app.ts';
import { createPlaygroundPool } from '../playground/pool.ts';
import { createReadShares, type Rate } from '../read-shares.ts';
import { createSessions } from '../sessions.ts';
import {
  BFF_TOKEN,
  PASSWORD,
  PRINCIPAL_KEY,
  startFakeControlPlane,
  type FakeControlPlane,
} from './fake-control-plane.ts';

export interface TestBff {
  readonly url: string;
  readonly upstream: FakeControlPlane;
  readonly clock: FakeClock;
  readonly metrics: Metrics;
  /** Signs in as `<role>@<workspace>` and gives the bearer token. */
  signIn(email: string): Promise<string>;
  /** Asks as the holder of a token. */
  ask(
    token: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  close(): Promise<void>;
}

export const ALLOWED_ORIGIN = 'http://localhost:5174';
export const TLS_ORIGIN = 'https://console.sluice.test';

/** The whole BFF over real sockets against a control plane that tells too much. */
export async function startTestBff({
  gatewayUrl = 'http://127.0.0.1:1',
  trustedProxies,
  shares = {},
  timeoutMs = 2000,
}: {
  gatewayUrl?: string;
  trustedProxies?: readonly string[];
  shares?: { ofPerson?: Rate; ofWorkspace?: Rate };
  /** For an answer of the control plane, milliseconds. */
  timeoutMs?: number;
} = {}): Promise<TestBff> {
  const share = { perSecond: 1, burst: 1e6 };
  const clock = createFakeClock(1_800_000_000_000);
  const upstream = await startFakeControlPlane(clock);
  const pool = createPlaygroundPool({ maxOfOne: 2, maxOfWorkspace: 3, maxCalls: 4 });
  const metrics = createMetrics({ service: 'console-bff' });
  const controlPlane = createControlPlane({
    baseUrl: upstream.url,
    token: BFF_TOKEN,
    principalKey: PRINCIPAL_KEY,
    clock,
    timeoutMs,
  });
  const app = createBffApp({
    logger: createLogger({ service: 'console-bff', level: 'silent' }),
    metrics,
    controlPlane,
    sessions: createSessions({ clock, controlPlane }),
    // The clock stands still in most tests.
    shares: createReadShares({ clock, ofPerson: share, ofWorkspace: share, ...shares }),
    clock,
    gatewayUrl,
    principalKey: PRINCIPAL_KEY,
    pool,
    trustedProxies,
    allowedOrigins: [ALLOWED_ORIGIN, TLS_ORIGIN],
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0, graceMs: 10 });

  return {
    url: server.url,
    upstream,
    clock,
    metrics,
    async signIn(email) {
      const res = await fetch(`${server.url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: PASSWORD, bearer: true }),
      });
      return ((await res.json()) as { token: string }).token;
    },
    ask: (token, method, path, body, headers = {}) =>
      fetch(server.url + path, {
        method: method.toUpperCase(),
        headers: {
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async close() {
      await server.close();
      pool.close();
      await upstream.close();
    },
  };
}
