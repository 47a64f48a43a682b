import { screen, waitFor, within } from '@testing-library/react';
import { policyOf } from '../test-support/fixture-views.ts';
import { problem } from '../test-support/fixture-bff.ts';
import { closeConsole, showConsole } from '../test-support/show-console.tsx';

afterEach(closeConsole);

const field = (title: string) => within(screen.getByLabelText(title, { selector: '[role=group]' }));
const bodies = (bff: ReturnType<typeof showConsole>['bff']) =>
  bff.sent.filter(({ call }) => call === 'PUT /api/policy').map(({ body }) => body);

describe('limits and policy', () => {
  it('says of each field what holds and where it comes from', async () => {
    showConsole('/acme-prod/policy');
    await screen.findByLabelText('Requests', { selector: '[role=group]' });
    expect(field('Tokens').getByText('3,000,000 a minute')).toBeTruthy();
    expect(field('Tokens').getByText('from the plan')).toBeTruthy();
    expect(field('Requests').getByText(/of this workspace; the plan has: 50 a second, 100 at once/)).toBeTruthy();
    expect(field('Priority').getByText('Set by the plan.')).toBeTruthy();
    expect(field('Priority').queryByRole('button')).toBeNull();
  });

  it('lets a person without policy:write see and not change', async () => {
    showConsole(
      '/acme-staging/policy',
      ({ routes }) => (routes['GET /api/policy'] = { status: 200, body: policyOf({}, 3, false) }),
    );
    expect(await screen.findByText('policy:write')).toBeTruthy();
    expect(screen.queryByRole('button', { name: /^(Set|Save)/ })).toBeNull();
  });

  it('saves what was changed on top of the version that was read, and says that it is in force', async () => {
    const { bff, user } = showConsole('/acme-prod/policy', ({ routes }) => {
      routes['PUT /api/policy'] = ({ headers, body }) =>
        headers.get('if-match') === '"7"' ? { status: 200, body: policyOf(body, 8) } : problem(428, 'No version');
    });
    await user.click(await screen.findByRole('button', { name: 'Set At the same time for this workspace' }));
    await user.clear(screen.getByLabelText('Of which may wait'));
    await user.type(screen.getByLabelText('Of which may wait'), '5');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByText(/Saved\. It is in force/)).toBeTruthy();
    expect(bodies(bff)).toEqual([
      { limits: { requests: { perSecond: 20, burst: 40 }, concurrency: { inFlight: 100, queued: 5 } } },
    ]);
  });

  it('shows an impossible value at its field and sends nothing', async () => {
    const { bff, user } = showConsole('/acme-prod/policy');
    await user.click(await screen.findByRole('button', { name: 'Set At the same time for this workspace' }));
    await user.type(screen.getByLabelText('Of which may wait'), '0');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(field('At the same time').getByRole('alert').textContent).toMatch(
      /Waiting must not be more than in progress/,
    );
    expect(screen.getByLabelText('Of which may wait').getAttribute('aria-invalid')).toBe('true');
    expect(bodies(bff)).toEqual([]);
  });

  it('shows at its field what only the backend knows to be wrong', async () => {
    const { user } = showConsole('/acme-prod/policy', ({ routes }) => {
      routes['PUT /api/policy'] = problem(400, 'This policy cannot be saved', {
        errors: [{ path: 'limits.requests.perSecond', message: 'must not be above the plan’s 50' }],
      });
    });
    await user.type(await screen.findByLabelText('Requests at once'), '0');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect((await field('Requests').findByRole('alert')).textContent).toBe('must not be above the plan’s 50');
  });

  it('the second of two editors sees both versions, merges field by field, and saves on top', async () => {
    let version = 8;
    // Meanwhile a colleague set the rate to 30 and tokens to 5.
    let current = { limits: { requests: { perSecond: 30, burst: 40 }, tokens: { perMinute: 5 } } } as object;
    const { bff, user } = showConsole('/acme-prod/policy', ({ routes }) => {
      routes['PUT /api/policy'] = ({ headers, body }) => {
        if (headers.get('if-match') !== `"${version}"`) {
          return problem(412, 'Somebody else saved first', {
            detail: '…',
            base: { version: 7, override: { limits: { requests: { perSecond: 20, burst: 40 } } } },
            current: policyOf(current, version),
            yours: body,
            conflicts: ['limits.requests'],
          });
        }
        version += 1;
        current = body as object;
        return { status: 200, body: policyOf(current, version) };
      };
    });
    await user.clear(await screen.findByLabelText('How many requests'));
    await user.type(screen.getByLabelText('How many requests'), '10');
    await user.click(screen.getByRole('button', { name: 'Save' }));

    const conflict = within(await screen.findByRole('region', { name: 'Two versions of this policy' }));
    expect(conflict.getByText('10 a second, 40 at once')).toBeTruthy();
    expect(conflict.getByText('30 a second, 40 at once')).toBeTruthy();
    expect(conflict.getByText(/Before, it was: 20 a second/)).toBeTruthy();
    expect(conflict.getByText('Taken over from them: Tokens.')).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);

    await user.click(conflict.getByRole('radio', { name: /Yours/ }));
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Two versions of this policy' })).toBeNull());
    expect(bodies(bff).at(-1)).toEqual({
      limits: { requests: { perSecond: 10, burst: 40 }, tokens: { perMinute: 5 } },
    });
  });

  it('a list of quotas can be made, with dollars kept as whole nanodollars', async () => {
    const { bff, user } = showConsole(
      '/acme-prod/policy',
      ({ routes }) => (routes['PUT /api/policy'] = ({ body }) => ({ status: 200, body: policyOf(body, 8) })),
    );
    await user.click(await screen.findByRole('button', { name: 'Set Quotas for this workspace' }));
    await user.click(screen.getByRole('button', { name: 'Add a quota' }));
    await user.selectOptions(screen.getByLabelText('Quota 1: of what'), 'dollars');
    await user.clear(screen.getByLabelText('Quota 1: limit'));
    await user.type(screen.getByLabelText('Quota 1: limit'), '12.5');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText(/Saved\./);
    expect(bodies(bff)[0]).toMatchObject({
      limits: { quotas: [{ id: 'quota-1', meter: 'cost_nanousd', limit: 12_500_000_000, mode: 'hard' }] },
    });
  });
});
