import { PERMISSIONS, ROLE_PERMISSIONS } from '@sluice/contracts';
import { act, screen, waitFor, within } from '@testing-library/react';
import { PAGES } from './shell/pages.ts';
import { PERMISSION_WORDS } from './shell/permission-words.ts';
import { problem } from './test-support/fixture-bff.ts';
import { OVERVIEW, SESSION } from './test-support/fixture-views.ts';
import { closeConsole, showConsole } from './test-support/show-console.tsx';

afterEach(closeConsole);

describe('signing in', () => {
  it('is asked for, says why it failed, and leads to where the person wanted to go', async () => {
    const { bff, user } = showConsole('/acme-prod/keys', ({ routes }) => {
      routes['GET /api/session'] = problem(401, 'Sign in first');
      routes['POST /api/session'] = problem(401, 'E-mail address or password is wrong');
    });
    await user.type(await screen.findByLabelText('E-mail address'), 'ada@acme.example');
    await user.type(screen.getByLabelText('Password'), 'guess');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect((await screen.findByRole('alert')).textContent).toContain('password is wrong');
    bff.routes['POST /api/session'] = { status: 200, body: SESSION };
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect(await screen.findByRole('heading', { name: 'API keys' })).toBeTruthy();
  });

  it('after too many failures waits for as long as the backend says', async () => {
    const { user } = showConsole('/', ({ routes }) => {
      routes['GET /api/session'] = problem(401, 'Sign in first');
      routes['POST /api/session'] = { ...problem(429, 'Too many failed attempts'), headers: { 'retry-after': '90' } };
    });
    await user.type(await screen.findByLabelText('E-mail address'), 'ada@acme.example');
    await user.type(screen.getByLabelText('Password'), 'guess');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect((await screen.findByRole('alert')).textContent).toMatch(
      /Too many failed attempts.*Try again in 1 min (30|29) s/,
    );
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Sign in' }).disabled).toBe(true);
  });

  it('is asked for again when the session ends on another page, and what was shown is gone', async () => {
    const { user } = showConsole(
      '/acme-prod/overview',
      ({ routes }) => (routes['GET /api/keys'] = problem(401, 'Sign in first')),
    );
    await screen.findByText('48,211');
    await user.click(screen.getByRole('link', { name: 'API keys' }));
    expect(await screen.findByLabelText('Password')).toBeTruthy();
    expect(screen.queryByText('48,211')).toBeNull();
    expect(screen.getByText(/Your session has ended/)).toBeTruthy();
  });

  it('ends here when the person signs out, even if the backend does not answer', async () => {
    const { user } = showConsole(
      '/acme-prod/overview',
      ({ routes }) => (routes['DELETE /api/session'] = problem(503, 'Down')),
    );
    await user.click(await screen.findByRole('button', { name: 'Sign out' }));
    expect(await screen.findByLabelText('Password')).toBeTruthy();
    expect(screen.queryByText(/Your session has ended/)).toBeNull();
  });
});

describe('what a person is offered', () => {
  it('are the pages that the role includes, and no other', async () => {
    showConsole('/acme-staging/overview');
    await screen.findByText('48,211');
    const links = within(screen.getByRole('navigation', { name: 'Pages' }))
      .getAllByRole('link')
      .map((link) => link.textContent);
    expect(links).toEqual(['Overview', 'Usage and cost', 'Alerts and webhooks', 'Limits and policy']);
  });

  it('a direct link to another page says which permission is missing and who can give it, and asks the backend nothing', async () => {
    const { bff } = showConsole('/acme-staging/requests');
    expect(await screen.findByText('trace:read')).toBeTruthy();
    expect(document.body.textContent).toMatch(/You are viewer here; the role developer or admin has it/);
    expect(bff.asked.filter((call) => call.includes('/api/requests'))).toEqual([]);
  });

  it('another workspace by the switch, on the same page', async () => {
    const { bff, user } = showConsole('/acme-prod/usage');
    await screen.findByText('sim-medium', { selector: 'td span' });
    await user.selectOptions(screen.getByLabelText('Workspace'), 'acme-staging');
    await waitFor(() =>
      expect(bff.asked.some((call) => call.startsWith('GET /api/usage?workspace=acme-staging'))).toBe(true),
    );
    expect(window.location.pathname).toBe('/acme-staging/usage');
  });

  it('somebody else’s workspace is told like one that does not exist', async () => {
    const { bff } = showConsole('/globex-prod/overview');
    const theirs = (await screen.findByText(/no workspace of this name/)).textContent;
    closeConsole();
    showConsole('/no-such-thing/overview');
    expect((await screen.findByText(/no workspace of this name/)).textContent).toBe(theirs);
    expect(bff.asked.filter((call) => call.includes('globex'))).toEqual([]);
  });

  it('an address without a page says so', async () => {
    showConsole('/acme-prod/nothing');
    expect(await screen.findByText('There is no page at this address.')).toBeTruthy();
  });

  it('the back button leads back', async () => {
    const { user } = showConsole('/acme-prod/overview');
    await user.click(await screen.findByRole('link', { name: 'Billing' }));
    await screen.findByRole('heading', { name: 'Billing' });
    act(() => window.history.back());
    expect(await screen.findByRole('heading', { name: 'Overview' })).toBeTruthy();
  });

  it('roles and permissions are told as they are', () => {
    for (const permission of PERMISSIONS) {
      const roles = Object.entries(ROLE_PERMISSIONS).flatMap(([role, held]) =>
        held.includes(permission) ? [role] : [],
      );
      expect([permission, ...PERMISSION_WORDS[permission].roles]).toEqual([permission, ...roles]);
    }
  });
});

describe.each(PAGES.map(({ id }) => id))('the page %s', (id) => {
  const title = PAGES.find((page) => page.id === id)?.title as string;

  it('shows its content without a fault', async () => {
    showConsole(`/acme-prod/${id}`);
    expect(await screen.findByRole('heading', { level: 1, name: title })).toBeTruthy();
    await waitFor(() => expect(document.querySelector('.skeleton')).toBeNull());
    expect(document.title).toBe(`${title} · Sluice`);
    expect(screen.queryByText(/could not be/)).toBeNull();
  });

  it('says that it loads, then that the control plane does not answer, and asks again when told to', async () => {
    const { bff, user } = showConsole(`/acme-prod/${id}`, ({ routes }) => {
      for (const call of Object.keys(routes))
        if (call.startsWith('GET ') && call !== 'GET /api/session')
          routes[call] = problem(503, 'The control plane does not answer');
    });
    const alerts = await screen.findAllByText('The control plane does not answer.');
    expect(alerts[0]?.closest('[role=alert]')?.textContent).toContain('Calls to your models go on');
    const before = bff.asked.length;
    await user.click(screen.getAllByRole('button', { name: 'Try again' })[0] as HTMLElement);
    await waitFor(() => expect(bff.asked.length).toBeGreaterThan(before));
  });
});

it('keeps the last known figures when the control plane goes away, and says how old they are', async () => {
  const { bff } = showConsole('/acme-prod/overview');
  await screen.findByText('48,211');
  bff.routes['GET /api/overview'] = problem(503, 'Down');
  await screen.findByText(/What you see is from/);
  expect(screen.getByText('48,211')).toBeTruthy();
});

it('shows what the operator has switched off, at once and in words', async () => {
  showConsole(
    '/acme-prod/overview',
    ({ routes }) =>
      (routes['GET /api/overview'] = {
        status: 200,
        body: { ...OVERVIEW, kill_switches: [{ scope: 'workspace', target: 'acme-prod', message: 'Unpaid bill.' }] },
      }),
  );
  expect((await screen.findByRole('alert')).textContent).toBe(
    'Calls of this workspace are switched off by the operator. Unpaid bill.',
  );
});
