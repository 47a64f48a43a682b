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
  permissions: { 'acme-prod': ['usage:read', 'cost:read', 'trace:read', 'keys:write'], 'acme-staging': ['usage:read'] },
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
const sent: unknown[] = [];
let answers: Record<string, { status: number; body: unknown }> = {};
const realFetch = globalThis.fetch;

beforeEach(() => {
  asked.length = 0;
  sent.length = 0;
  answers = {
    'GET /api/session': { status: 200, body: SESSION },
    'GET /api/overview': { status: 200, body: OVERVIEW },
    'GET /api/usage': { status: 200, body: { points: [] } },
    'GET /api/requests': { status: 200, body: REQUESTS },
  };
  globalThis.fetch = jest.fn(async (input: unknown, init?: { method?: string; body?: string }) => {
    const path = String(input);
    asked.push(path);
    if (init?.body !== undefined) sent.push(JSON.parse(init.body));
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

  const KEY = { key_id: 'acmeKey00001', name: 'ci', created_at: '2026-01-01T10:11:12.000Z', expires_at: null, expired: false, allow_models: ['sim-small'], allow_addresses: null, limits: null };

  it('makes a key, shows it once, and forgets it when it is stored', async () => {
    answers['GET /api/keys'] = { status: 200, body: { rows: [] } };
    answers['POST /api/keys'] = { status: 201, body: { key_id: KEY.key_id, key: 'sk-sluice-once', name: 'ci' } };
    const user = show();
    await user.click(await screen.findByRole('button', { name: 'API keys' }));
    expect(await screen.findByText(/No keys yet/)).toBeTruthy();
    await user.type(screen.getByLabelText('Name'), 'ci');
    await user.type(screen.getByLabelText(/Models/), 'sim-small, sim-medium');
    answers['GET /api/keys'] = { status: 200, body: { rows: [KEY] } };
    await user.click(screen.getByRole('button', { name: 'Make key' }));
    expect(await screen.findByText('sk-sluice-once')).toBeTruthy();
    expect(sent.at(-1)).toEqual({ name: 'ci', allow_models: ['sim-small', 'sim-medium'] });
    expect(await screen.findByText('acmeKey00001')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'I have stored it' }));
    expect(screen.queryByText('sk-sluice-once')).toBeNull();
  });

  it('says which field of a new key is wrong', async () => {
    answers['GET /api/keys'] = { status: 200, body: { rows: [] } };
    answers['POST /api/keys'] = { status: 400, body: { title: 'This key cannot be made', errors: [{ path: 'allow_models', message: 'there is no model gone' }] } };
    const user = show();
    await user.click(await screen.findByRole('button', { name: 'API keys' }));
    await user.type(await screen.findByLabelText('Name'), 'ci');
    await user.click(screen.getByRole('button', { name: 'Make key' }));
    expect((await screen.findByRole('alert')).textContent).toBe('This key cannot be made. allow models: there is no model gone');
  });

  it('revokes a key only after asking once more', async () => {
    answers['GET /api/keys'] = { status: 200, body: { rows: [KEY] } };
    answers['DELETE /api/keys/acmeKey00001'] = { status: 204, body: undefined };
    const user = show();
    await user.click(await screen.findByRole('button', { name: 'API keys' }));
    await user.click(await screen.findByRole('button', { name: 'Revoke ci' }));
    expect(asked.some((path) => path.startsWith('/api/keys/'))).toBe(false);
    answers['GET /api/keys'] = { status: 200, body: { rows: [] } };
    await user.click(screen.getByRole('button', { name: 'Revoke for good' }));
    expect(await screen.findByText(/No keys yet/)).toBeTruthy();
    expect(asked).toContain('/api/keys/acmeKey00001?workspace=acme-prod');
  });

  it('names the pages that are not there yet', async () => {
    show();
    expect((await screen.findByText(/Not there yet/)).textContent).toContain('Billing');
  });
});
