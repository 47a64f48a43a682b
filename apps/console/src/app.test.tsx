import { jest } from '@jest/globals';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { App } from './app.tsx';

const TOKENS = { input: 1000, cache_read: 200, cache_write: 34, output: 50, reasoning: 6, audio: 0 };
const SESSION = {
  kind: 'person',
  userId: 'u1',
  email: 'vera@acme.test',
  roles: { 'acme-prod': 'admin', 'acme-staging': 'viewer' },
  permissions: { 'acme-prod': ['usage:read', 'cost:read', 'trace:read'], 'acme-staging': ['usage:read'] },
};
const OVERVIEW = {
  workspace: 'acme-prod',
  tenant: { id: 'acme', name: 'Acme' },
  plan: 'enterprise',
  seconds: [{ second: 1, outcomes: { ok: 7, throttled: 2 }, tokens: 9 }],
  totals: { outcomes: { ok: 7, throttled: 2 } },
  month: { calls: 4321, tokens: TOKENS, billed_nanousd: null },
  limits: { requests: { per_second: 50, per_minute: null, burst: 100 }, tokens: null, concurrency: null, quotas: [] },
};
const REQUESTS = {
  rows: [{ request_id: 'req_1', occurred_at: '2026-01-01T10:11:12.000Z', model: 'sim-large', feature: null, outcome: 'throttled', error_code: 'rate_limited', status: 429, tokens: TOKENS, billed_nanousd: 2_500_000, total_ms: 12, fallback: false }],
  next_cursor: null,
};

const asked: string[] = [];
let answers: Record<string, { status: number; body: unknown }> = {};
const realFetch = globalThis.fetch;

beforeEach(() => {
  asked.length = 0;
  answers = {
    'GET /api/session': { status: 200, body: SESSION },
    'GET /api/overview': { status: 200, body: OVERVIEW },
    'GET /api/usage': { status: 200, body: { points: [] } },
    'GET /api/requests': { status: 200, body: REQUESTS },
  };
  globalThis.fetch = jest.fn(async (input: unknown, init?: { method?: string }) => {
    const path = String(input);
    asked.push(path);
    const { status, body } = answers[`${init?.method ?? 'GET'} ${path.split('?')[0]}`] ?? { status: 404, body: { title: 'Not found' } };
    return { ok: status < 300, status, json: async () => body };
  }) as unknown as typeof fetch;
});
afterEach(() => {
  cleanup();
  globalThis.fetch = realFetch;
});

function show() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

describe('console', () => {
  it('asks for a sign-in, says why it failed, and goes on when it works', async () => {
    answers['GET /api/session'] = { status: 401, body: { title: 'Sign in first' } };
    answers['POST /api/session'] = { status: 401, body: { title: 'E-mail address or password is wrong' } };
    const user = show();
    await user.type(await screen.findByLabelText('E-mail address'), 'vera@acme.test');
    await user.type(screen.getByLabelText('Password'), 'guess');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect((await screen.findByRole('alert')).textContent).toContain('password is wrong');
    answers['POST /api/session'] = { status: 200, body: SESSION };
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect(await screen.findByText('4,321')).toBeTruthy();
  });

  it('shows what became of the last calls, in words too, and a dash for money that is not for this role', async () => {
    show();
    expect(await screen.findByRole('img', { name: /acme-prod.*7 ok, 2 throttled/ })).toBeTruthy();
    expect(screen.getByText('billed').nextElementSibling?.textContent).toBe('–');
    expect(screen.getByText('50 requests/s, burst 100')).toBeTruthy();
  });

  it('shows each request with why it was refused', async () => {
    const user = show();
    await user.click(await screen.findByRole('button', { name: 'Requests' }));
    const row = (await screen.findByText('req_1')).closest('tr');
    expect(row?.textContent).toContain('rate_limited');
    expect(row?.textContent).toContain('$0.0025');
  });

  it('asks for the workspace that is chosen, and not for pages that the role there lacks', async () => {
    const user = show();
    await user.selectOptions(await screen.findByLabelText('Workspace'), 'acme-staging');
    await screen.findByText('4,321');
    expect(asked).toContain('/api/overview?workspace=acme-staging');
    await user.click(screen.getByRole('button', { name: 'Requests' }));
    expect(screen.getByText(/needs trace:read/)).toBeTruthy();
    expect(asked.filter((path) => path.startsWith('/api/requests'))).toEqual([]);
  });

  it('names the pages that are not there yet', async () => {
    show();
    expect((await screen.findByText(/Not there yet/)).textContent).toContain('Billing');
  });
});
