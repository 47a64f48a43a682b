import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { configure, render } from '@testing-library/react';
import type { OperatorState } from '@sluice/contracts';
import { createOperatorApi, type Session } from './api/operator-api.ts';
import { App } from './app.tsx';

// Pages are loaded when they are first opened, which takes seconds on a busy machine.
configure({ asyncUtilTimeout: 20_000 });

/** A quiet picture with two tenants. */
export const QUIET: OperatorState = {
  at: '2026-01-01T00:00:00.000Z',
  config_version: 7,
  chaos_enabled: true,
  tenants: [
    {
      tenant: 'initech',
      name: 'Initech',
      plan: 'free',
      limits: { requests: { perSecond: 5, burst: 10 }, quotas: [] },
      workspaces: ['initech-prod'],
      totals: { ok: 4, throttled: 9 },
      seconds: [{ second: 1, outcomes: { ok: 4, throttled: 9 }, tokens: 0, queue_ms_max: 0, queue_ms_mean: 0 }],
    },
    {
      tenant: 'acme',
      name: 'Acme',
      plan: 'enterprise',
      limits: { quotas: [] },
      workspaces: ['acme-prod'],
      totals: {},
      seconds: [],
    },
  ],
  providers: [],
  queues: null,
  gateways: [],
  anomalies: [],
  ledger: null,
  chaos: [],
  chaos_reports: [],
  problems: [],
};

export const ADMIN: Session = { user: 'ops', role: 'admin' };

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/** The console on answers by `METHOD path`, a live stream that the test pushes, and what was sent. */
export function showConsole(
  routes: Record<string, Answer | ((body: string | undefined, headers: Record<string, string>) => Answer)>,
  path = '/_console/',
) {
  history.replaceState(null, '', path);
  // The test's window has no place to scroll to.
  window.scrollTo = () => undefined;
  const sent: { request: string; body: string | undefined; headers: Record<string, string> }[] = [];
  const streams: { listeners: Map<string, (event: { data?: string }) => void>; closed: boolean }[] = [];
  const api = createOperatorApi(
    async (url, init) => {
      const request = `${init?.method ?? 'GET'} ${url}`;
      const body = init?.body as string | undefined;
      const headers = init?.headers as Record<string, string>;
      sent.push({ request, body, headers });
      const route = routes[request] ?? routes[`${init?.method ?? 'GET'} ${url.split('?')[0] ?? ''}`];
      if (route === undefined) throw new Error(`nothing at ${request}`);
      const answer = typeof route === 'function' ? route(body, headers) : route;
      return { ok: answer.status < 400, status: answer.status, json: async () => answer.body } as Response;
    },
    () => {
      const stream = { listeners: new Map<string, (event: { data?: string }) => void>(), closed: false };
      streams.push(stream);
      return {
        addEventListener: (name: string, listener: unknown) =>
          void stream.listeners.set(name, listener as (event: { data?: string }) => void),
        close: () => {
          stream.closed = true;
        },
      };
    },
  );
  const view = render(
    <QueryClientProvider
      client={new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } })}
    >
      <App api={api} />
    </QueryClientProvider>,
  );
  return {
    ...view,
    sent,
    /** Pushes a picture to whoever watches. */
    push: (state: OperatorState) =>
      streams
        .filter(({ closed }) => !closed)
        .forEach(({ listeners }) => listeners.get('state')?.({ data: JSON.stringify(state) })),
    breakStream: () => streams.forEach(({ listeners }) => listeners.get('error')?.({})),
  };
}

export const SIGNED_IN = {
  'GET /api/session': { status: 200, body: ADMIN },
  'GET /api/state': { status: 200, body: QUIET },
} as const;
