import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import type { OperatorState } from '@sluice/contracts';
import { createOperatorApi } from './api/operator-api.ts';
import { App } from './app.tsx';

const quiet: OperatorState = {
  at: '2026-01-01T00:00:00.000Z',
  config_version: 7,
  chaos_enabled: true,
  tenants: [
    { tenant: 'initech', name: 'Initech', plan: 'free', limits: { requests: { perSecond: 5, burst: 10 }, quotas: [] }, workspaces: ['initech-prod'], totals: { ok: 4, throttled: 9 }, seconds: [{ second: 1, outcomes: { ok: 4, throttled: 9 }, tokens: 0, queue_ms_max: 0, queue_ms_mean: 0 }] },
    { tenant: 'acme', name: 'Acme', plan: 'enterprise', limits: { quotas: [] }, workspaces: ['acme-prod'], totals: {}, seconds: [] },
  ],
  providers: [],
  queues: null,
  gateways: [],
  anomalies: [],
  ledger: null,
  chaos: [],
  chaos_reports: [],
  problems: ['The database has not answered since 12:00.'],
};

function show(routes: Record<string, { status: number; body: unknown }>) {
  const api = createOperatorApi(async (path) => {
    const answer = routes[path];
    if (answer === undefined) throw new Error(`nothing at ${path}`);
    return { ok: answer.status < 400, status: answer.status, json: async () => answer.body } as Response;
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <App api={api} />
    </QueryClientProvider>,
  );
}

describe('the operator console', () => {
  it('asks a stranger to sign in and shows nothing else', async () => {
    show({ '/api/session': { status: 401, body: { title: 'Sign in first' } } });
    expect(await screen.findByRole('button', { name: 'Sign in' })).toBeTruthy();
    expect(screen.queryByText(/Tenants/)).toBeNull();
  });

  it('says who is affected, in words and not by colour alone', async () => {
    show({ '/api/session': { status: 200, body: {} }, '/api/state': { status: 200, body: quiet } });
    expect((await screen.findByText('Initech')).closest('article')?.textContent).toMatch(/throttled/);
    expect(screen.getByText('Acme').closest('article')?.textContent).toMatch(/quiet/);
  });

  it('says what is degraded, and that the spine is away', async () => {
    show({ '/api/session': { status: 200, body: {} }, '/api/state': { status: 200, body: quiet } });
    expect(await screen.findByText('The database has not answered since 12:00.')).toBeTruthy();
    expect(screen.getByText(/The spine does not answer/)).toBeTruthy();
  });

  it('says so when the control plane is away, instead of an empty page', async () => {
    show({ '/api/session': { status: 503, body: { detail: 'Starting.' } } });
    expect((await screen.findByRole('alert')).textContent).toMatch(/does not answer: Starting\. Inference goes on/);
  });
});
