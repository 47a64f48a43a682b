import { screen, waitFor, within } from '@testing-library/react';
import { readDollars } from './billing/dollar-text.ts';
import { replacementOf } from './keys/replacement.ts';
import { problem } from './test-support/fixture-bff.ts';
import { BILLING, KEYS, MEMBERS, REQUESTS, seriesOf, WEBHOOKS } from './test-support/fixture-views.ts';
import { closeConsole, showConsole } from './test-support/show-console.tsx';

afterEach(closeConsole);

describe('overview', () => {
  it('shows how full each quota is, the fullest first, and what happens at its end', async () => {
    showConsole('/acme-prod/overview');
    const meters = await screen.findAllByRole('meter');
    expect(meters.map((meter) => meter.getAttribute('aria-label'))).toEqual([
      'Burst guard, this workspace',
      'Daily spend, this workspace',
      'Monthly tokens, all workspaces together',
    ]);
    expect(screen.getByText('used up: calls are refused')).toBeTruthy();
    expect(screen.getByText('$43.11 of $50.00, calendar day')).toBeTruthy();
  });

  it('leaves a gap in a line where nothing was measured', async () => {
    showConsole('/acme-prod/overview');
    const chart = await screen.findByRole('img', { name: /^Time to answer/ });
    expect(seriesOf('latency_ms').points.some(({ value }) => value === null)).toBe(true);
    expect(chart.querySelectorAll('polyline')).toHaveLength(2);
  });
});

describe('requests', () => {
  it('says of each refusal why, by which limit, how often, and what to do', async () => {
    showConsole('/acme-prod/requests');
    const row = (await screen.findByText('14 calls')).closest('tr') as HTMLElement;
    expect(row.textContent).toMatch(
      /rate limit14 calls429 throttled.*More than 20 requests a second.*\(requests, limit of this workspace\).*Spread calls out/,
    );
    expect(within(row).getByRole('link').getAttribute('href')).toBe(
      '/acme-prod/requests/req_01JQZ3W8K0CCCCCCCCCCCCCCCC',
    );
  });

  it('filters by what the address says and leads to a request by its id', async () => {
    const { bff, user } = showConsole('/acme-prod/requests?outcome=quota&first=2026-03-01&last=2026-03-02');
    await waitFor(() =>
      expect(bff.asked.find((call) => call.startsWith('GET /api/requests?'))).toBe(
        'GET /api/requests?workspace=acme-prod&outcome=quota&from=2026-03-01T00%3A00%3A00.000Z&to=2026-03-03T00%3A00%3A00.000Z',
      ),
    );
    await user.type(screen.getByLabelText('Request id'), 'req_01JQZ3W8K0BBBBBBBBBBBBBBBB{enter}');
    expect(await screen.findByText('waited for a model')).toBeTruthy();
    expect(screen.getByText('primary').closest('tr')?.textContent).toContain('timeout');
    expect(window.location.pathname).toBe('/acme-prod/requests/req_01JQZ3W8K0BBBBBBBBBBBBBBBB');
  });

  it('a request that is not of this workspace is told like one that does not exist', async () => {
    showConsole(
      '/acme-prod/requests/req_other',
      ({ routes }) => (routes['GET /api/requests/:id'] = problem(404, 'Not found')),
    );
    expect(await screen.findByText('There is no request of this id in this workspace.')).toBeTruthy();
  });

  it('shows older ones when asked, and keeps what is shown when that fails', async () => {
    const { user } = showConsole('/acme-prod/requests', ({ routes }) => {
      routes['GET /api/requests'] = ({ query }) =>
        query.get('cursor') === null
          ? { status: 200, body: { rows: REQUESTS.slice(0, 1), next_cursor: 'c' } }
          : problem(500, 'Failed');
    });
    await user.click(await screen.findByRole('button', { name: 'Show older' }));
    expect((await screen.findByRole('alert')).textContent).toContain('Failed');
    expect(screen.getAllByText('answered').length).toBeGreaterThan(0);
  });
});

describe('API keys', () => {
  it('a new key is shown once, copied, and forgotten when it is stored', async () => {
    const { bff, user } = showConsole(
      '/acme-prod/keys',
      ({ routes }) =>
        (routes['POST /api/keys'] = {
          status: 201,
          body: { key_id: 'acmeKey00003', key: 'sk-sluice-once', name: 'ci' },
        }),
    );
    await user.type(await screen.findByLabelText('Name'), 'ci');
    await user.type(screen.getByLabelText('Models'), 'sim-small, sim-medium');
    await user.click(screen.getByRole('button', { name: 'Make key' }));
    expect(await screen.findByText('sk-sluice-once')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Copy it to the clipboard' }));
    expect(await navigator.clipboard.readText()).toBe('sk-sluice-once');
    expect(bff.sent.at(-1)?.body).toEqual({ name: 'ci', allow_models: ['sim-small', 'sim-medium'] });
    await user.click(screen.getByRole('button', { name: 'I have stored it' }));
    expect(screen.queryByText('sk-sluice-once')).toBeNull();
  });

  it('says beside the field what is wrong with a new key', async () => {
    const { user } = showConsole(
      '/acme-prod/keys',
      ({ routes }) =>
        (routes['POST /api/keys'] = problem(400, 'This key cannot be made', {
          errors: [{ path: 'allow_models', message: 'there is no model gone' }],
        })),
    );
    await user.type(await screen.findByLabelText('Name'), 'ci');
    await user.click(screen.getByRole('button', { name: 'Make key' }));
    expect(await screen.findByText('there is no model gone')).toBeTruthy();
    expect(screen.getByLabelText('Models').getAttribute('aria-invalid')).toBe('true');
  });

  it('revokes only after asking once more', async () => {
    const { bff, user } = showConsole(
      '/acme-prod/keys',
      ({ routes }) => (routes['DELETE /api/keys/:id'] = { status: 204 }),
    );
    await user.click(await screen.findByRole('button', { name: 'Revoke production backend' }));
    expect(bff.asked.some((call) => call.startsWith('DELETE'))).toBe(false);
    await user.click(screen.getByRole('button', { name: 'Revoke for good' }));
    await waitFor(() => expect(bff.asked).toContain('DELETE /api/keys/acmeKey00001?workspace=acme-prod'));
  });

  it('a replacement may do the same for as long, and the old key stays until it is revoked', async () => {
    const { bff, user } = showConsole(
      '/acme-prod/keys',
      ({ routes }) =>
        (routes['POST /api/keys'] = {
          status: 201,
          body: { key_id: 'acmeKey00003', key: 'sk-sluice-next', name: 'production backend' },
        }),
    );
    await user.click(await screen.findByRole('button', { name: 'Replace production backend' }));
    await user.click(screen.getByRole('button', { name: 'Make the new key' }));
    expect((await screen.findByRole('region', { name: /is ready/ })).textContent).toMatch(
      /sk-sluice-next.*old key acmeKey00001 still works/,
    );
    expect(bff.asked.some((call) => call.startsWith('DELETE'))).toBe(false);
    expect(
      replacementOf(
        {
          ...(KEYS.rows[1] as (typeof KEYS.rows)[number]),
          created_at: '2026-01-01T00:00:00.000Z',
          expires_at: '2026-01-31T00:00:00.000Z',
        },
        Date.parse('2026-03-01T00:00:00.000Z'),
      ),
    ).toEqual({
      name: 'ci',
      expires_at: '2026-03-31T00:00:00.000Z',
      allow_models: ['sim-small'],
      allow_addresses: ['203.0.113.0/24'],
    });
  });
});

describe('members', () => {
  it('an invitation is a link whose secret no server sees when it is opened', async () => {
    const { user } = showConsole('/acme-prod/members', ({ routes }) => {
      routes['POST /api/members'] = {
        status: 201,
        body: {
          member_id: 'm4',
          email: 'eve@new.example',
          role: 'viewer',
          status: 'invited',
          invitation: 'inv-0123456789abcdefghij',
          expires_at: null,
        },
      };
    });
    await user.type(await screen.findByLabelText('E-mail address'), 'eve@new.example');
    await user.click(screen.getByRole('button', { name: 'Add' }));
    const link = new URL((await screen.findByText(/\/join#/)).textContent as string);
    expect([link.pathname, link.search, link.hash]).toEqual(['/join', '', '#inv-0123456789abcdefghij']);
  });

  it('a role that cannot be changed stays, with the reason beside it', async () => {
    const { user } = showConsole(
      '/acme-prod/members',
      ({ routes }) => (routes['PUT /api/members/:id'] = problem(409, 'The last admin cannot give up the role')),
    );
    await user.selectOptions(await screen.findByLabelText('Role of ada@acme.example'), 'viewer');
    expect((await screen.findByRole('alert')).textContent).toContain('The last admin');
    await waitFor(() =>
      expect(screen.getByLabelText<HTMLSelectElement>('Role of ada@acme.example').value).toBe('admin'),
    );
    expect(MEMBERS.rows[0]?.role).toBe('admin');
  });

  it('who opens the link sets a password and may then sign in', async () => {
    const { bff, user } = showConsole(
      '/join#inv-0123456789abcdefghij',
      ({ routes }) => (routes['POST /api/invitations'] = { status: 204 }),
    );
    await user.type(await screen.findByLabelText('Password'), 'correct horse battery');
    await user.click(screen.getByRole('button', { name: 'Join' }));
    await screen.findByText(/Done\./);
    expect(bff.sent).toEqual([
      {
        call: 'POST /api/invitations',
        body: { invitation: 'inv-0123456789abcdefghij', password: 'correct horse battery' },
      },
    ]);
  });
});

describe('billing', () => {
  it('says what is due, what is expected, when the cap is reached, and gives statements as files', async () => {
    showConsole('/acme-prod/billing');
    expect((await screen.findByText('due so far this month')).parentElement?.textContent).toContain('$2,044.60');
    expect(screen.getByText(/As it goes now, the cap is reached/)).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Statement of February 2026 as CSV' }).getAttribute('href')).toBe(
      '/api/billing/statement?workspace=acme-prod&month=2026-02&format=csv',
    );
  });

  it('saves a new cap in whole nanodollars on top of what was read', async () => {
    let ifMatch: string | null = null;
    const { bff, user } = showConsole('/acme-prod/billing', ({ routes }) => {
      routes['PUT /api/billing'] = ({ headers }) => {
        ifMatch = headers.get('if-match');
        return { status: 200, body: { ...BILLING, version: 4 } };
      };
    });
    await user.clear(await screen.findByLabelText('New cap, dollars a month'));
    await user.type(screen.getByLabelText('New cap, dollars a month'), '1,250.10');
    await user.click(screen.getByRole('button', { name: 'Save cap' }));
    await waitFor(() =>
      expect(bff.sent).toEqual([{ call: 'PUT /api/billing', body: { overage_cap_nanousd: 1_250_100_000_000 } }]),
    );
    expect(ifMatch).toBe('"3"');
  });

  it.each([
    ['250', 250_000_000_000],
    ['$1,250.50', 1_250_500_000_000],
    ['0.000000001', 1],
    ['0', 0],
    ['1,25', 'Give an amount'],
    ['-5', 'Give an amount'],
    ['1e3', 'Give an amount'],
    ['', 'Give an amount'],
    ['1000000.01', 'The most that can be set'],
  ])('reads %j', (text, expected) => {
    const read = readDollars(text);
    if (typeof expected === 'number') expect(read).toBe(expected);
    else expect(read).toMatch(expected);
  });
});

describe('alerts and webhooks', () => {
  it('a test is sent, and the log shows how the receiver took it', async () => {
    const { bff, user } = showConsole('/acme-prod/alerts');
    await user.click(await screen.findByRole('button', { name: 'Send a test' }));
    expect(await screen.findByText('The receiver answered 503.')).toBeTruthy();
    expect(bff.asked).toContain('POST /api/webhooks/w1/test?workspace=acme-prod');
  });

  it('a new webhook shows its secret once, and a refused address says why at its field', async () => {
    const { bff, user } = showConsole(
      '/acme-prod/alerts',
      ({ routes }) =>
        (routes['POST /api/webhooks'] = problem(400, 'This webhook cannot be made', {
          errors: [{ path: 'url', message: 'is an address of a private network' }],
        })),
    );
    await user.click(await screen.findByRole('button', { name: 'Add a webhook' }));
    await user.type(screen.getByLabelText('Address'), 'https://10.0.0.1/x');
    await user.click(screen.getByRole('button', { name: 'Add webhook' }));
    expect(await screen.findByText('is an address of a private network')).toBeTruthy();
    bff.routes['POST /api/webhooks'] = {
      status: 201,
      body: { ...WEBHOOKS.rows[0], webhook_id: 'w2', secret: 'whsec_once' },
    };
    await user.click(screen.getByRole('button', { name: 'Add webhook' }));
    expect(await screen.findByText('whsec_once')).toBeTruthy();
  });

  it('who may not change policy sees alerts, and is told what the rest needs', async () => {
    const { bff } = showConsole('/acme-staging/alerts');
    expect(await screen.findByText('daily-spend')).toBeTruthy();
    expect(screen.getByText('policy:write')).toBeTruthy();
    expect(bff.asked.filter((call) => call.includes('webhooks'))).toEqual([]);
  });
});

describe('the own password', () => {
  async function fill(user: ReturnType<typeof showConsole>['user'], again = 'a new long password'): Promise<void> {
    await user.type(await screen.findByLabelText('Password now'), 'the old one');
    await user.type(screen.getByLabelText('New password'), 'a new long password');
    await user.type(screen.getByLabelText('New password again'), again);
    await user.click(screen.getByRole('button', { name: 'Change password' }));
  }

  it('is changed with the old one; then the person is told so, signed out, and signs in again', async () => {
    const { bff, user } = showConsole(
      '/acme-prod/account',
      ({ routes }) => (routes['POST /api/password'] = { status: 204 }),
    );
    await fill(user);
    expect(await screen.findByText(/Your password is changed, and you are signed out everywhere/)).toBeTruthy();
    expect(bff.sent).toEqual([
      { call: 'POST /api/password', body: { old_password: 'the old one', new_password: 'a new long password' } },
    ]);
    await user.type(screen.getByLabelText('E-mail address'), 'ada@acme.example');
    await user.type(screen.getByLabelText('Password'), 'a new long password');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect(await screen.findByRole('heading', { name: 'Your account' })).toBeTruthy();
  });

  it('stays when the old one is wrong, which is said at its field, and the person stays signed in', async () => {
    const { user } = showConsole('/acme-prod/account', ({ routes }) => {
      routes['POST /api/password'] = problem(400, 'The password was not changed', {
        errors: [{ path: 'old_password', message: 'is not the password you have' }],
      });
    });
    await fill(user);
    const field = await screen.findByLabelText('Password now');
    await waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'));
    expect(document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      'is not the password you have',
    );
  });

  it('is not sent while the two new ones differ', async () => {
    const { bff, user } = showConsole('/acme-prod/account');
    await fill(user, 'a new long passwort');
    expect(await screen.findByText('is not the same as the new password')).toBeTruthy();
    expect(bff.sent).toEqual([]);
  });
});
