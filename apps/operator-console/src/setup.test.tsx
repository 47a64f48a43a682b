import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { Model, Plan, type OperatorState } from '@sluice/contracts';
import { QUIET, showConsole, SIGNED_IN, type Answer } from './testing.tsx';

const row = (id: string, value: object, version = 3): Answer => ({ status: 200, body: { id, version, value } });
const list = (...rows: Answer[]): Answer => ({
  status: 200,
  body: { rows: rows.map(({ body }) => body), next_cursor: null },
});
const price = { inputPicoUsd: 1_000_000, outputPicoUsd: 5_000_000 };
const PLAN = {
  id: 'team',
  displayName: 'Team',
  policy: {},
  tenantLimits: { quotas: [] },
  priceBook: { version: 2, effectiveFrom: '2026-01-01T00:00:00.000Z', prices: { small: price } },
  allotment: {
    totalTokens: 200_000_000,
    feeNanoUsd: 200_000_000_000,
    overage: { picoUsdPerToken: 3_000_000, capNanoUsd: 100_000_000_000 },
  },
};
const MODEL = {
  id: 'small',
  displayName: 'Small',
  contextTokens: 8_000,
  maxOutputTokens: 1_000,
  abilities: ['chat'],
  tier: 0,
  offers: [
    { provider: 'primary', providerModel: 'small-1', price },
    { provider: 'other', providerModel: 's' },
  ],
};
const SWITCH = {
  id: 'provider-primary',
  scope: 'provider',
  target: 'primary',
  message: 'Back at noon.',
  retryAfterSeconds: 60,
};
const STALE: Answer = { status: 412, body: { title: 'Changed in the meantime', versions: { yours: 3, current: 4 } } };
const VIEWER = { 'GET /api/session': { status: 200, body: { user: 'eve', role: 'viewer' } } };
const CONFIG = {
  ...SIGNED_IN,
  'GET /api/plans': list(row('team', PLAN)),
  'GET /api/models': list(row('small', MODEL)),
  'GET /api/kill-switches': list(),
};

const LIVE: OperatorState['providers'][number] = {
  provider: 'primary',
  display_name: 'Primary',
  dialect: 'openai',
  breakers: [],
  pools: [],
  figures: { attempts: 0, failed: 0, answered: 0, ttfb_ms_mean: 0, ttfb_ms_max: 0 },
};
const BREAKER = { provider: 'primary', gateway_id: 'gw-1', failure_percent: 90, calls: 30 };
const BREAKERS: OperatorState['providers'][number]['breakers'] = [
  { ...BREAKER, model: 'small', state: 'partly_open', tenants: 3, tenants_open: 1, open_for: ['initech'] },
  { ...BREAKER, model: 'large', state: 'open', tenants: 14, tenants_open: 14, open_for: ['acme', 'globex'] },
  { ...BREAKER, model: 'medium', state: 'partly_open', tenants: 9, tenants_open: 2, open_for: ['acme', 'globex'] },
  { ...BREAKER, model: 'other', state: 'closed', tenants: 9, tenants_open: 0, open_for: [] },
];
const press = (name: string): boolean => fireEvent.click(screen.getByRole('button', { name }));

const bodyOf = (body: string | undefined): unknown => JSON.parse(body ?? 'null');

describe('plans', () => {
  it('are listed in dollars with what they include and sell', async () => {
    showConsole(CONFIG, '/_console/plans');
    const shown = (await screen.findByRole('link', { name: 'Team' })).closest('tr')?.textContent;
    expect(shown).toMatch(/\$200\.00.*200,000,000.*\$3\.00.*\$100\.00.*1 models/);
  });

  it('are saved in whole nanodollars under the version that was read, and keep their prices', async () => {
    const { sent } = showConsole(
      { ...CONFIG, 'GET /api/plans/team': row('team', PLAN), 'PUT /api/plans/team': { status: 200, body: {} } },
      '/_console/plans/team',
    );
    fireEvent.change(await screen.findByLabelText('fee a month, $'), { target: { value: '249.5' } });
    const panel = screen.getByRole('region', { name: 'Terms and limits' });
    fireEvent.click(within(panel).getByRole('button', { name: 'Save' }));
    await within(panel).findByRole('status');
    const put = sent.find(({ request }) => request === 'PUT /api/plans/team');
    expect(put?.headers).toMatchObject({ 'if-match': '"3"' });
    expect(bodyOf(put?.body)).toEqual({ ...PLAN, allotment: { ...PLAN.allotment, feeNanoUsd: 249_500_000_000 } });
  });

  it('get new prices as dollars for a million tokens; half a cent can be typed', async () => {
    const { sent } = showConsole(
      { ...CONFIG, 'GET /api/plans/team': row('team', PLAN), 'PUT /api/plans/team/prices': { status: 200, body: {} } },
      '/_console/plans/team',
    );
    const field = await screen.findByLabelText<HTMLInputElement>('small, from the cache');
    for (const value of ['0', '0.', '0.0', '0.00', '0.005']) {
      fireEvent.change(field, { target: { value } });
      expect(field.value).toBe(value);
    }
    const panel = screen.getByRole('region', { name: 'Prices' });
    fireEvent.click(within(panel).getByRole('button', { name: 'Save' }));
    await within(panel).findByRole('status');
    expect(bodyOf(sent.find(({ request }) => request === 'PUT /api/plans/team/prices')?.body)).toEqual({
      prices: { small: { ...price, cacheReadPicoUsd: 5_000 } },
    });
  });

  it('get prices of tiers and tools as JSON; text that is none changes nothing', async () => {
    const { sent } = showConsole(
      { ...CONFIG, 'GET /api/plans/team': row('team', PLAN), 'PUT /api/plans/team/prices': { status: 200, body: {} } },
      '/_console/plans/team',
    );
    const field = await screen.findByLabelText('small, tiers, long inputs and tools');
    const more = {
      serviceTiers: { priority: { inputPicoUsd: 2_000_000, outputPicoUsd: 9_000_000 } },
      toolNanoUsd: { web_search: 10_000_000 },
    };
    fireEvent.change(field, { target: { value: JSON.stringify(more) } });
    fireEvent.change(field, { target: { value: `${JSON.stringify(more)},` } });
    const panel = screen.getByRole('region', { name: 'Prices' });
    expect(within(panel).getByRole('alert').textContent).toMatch(/not a JSON object/);
    fireEvent.change(await screen.findByLabelText('small, to the cache for an hour'), { target: { value: '6' } });
    fireEvent.click(within(panel).getByRole('button', { name: 'Save' }));
    await within(panel).findByRole('status');
    expect(bodyOf(sent.find(({ request }) => request === 'PUT /api/plans/team/prices')?.body)).toEqual({
      prices: { small: { ...price, ...more, cacheWrite1hPicoUsd: 6_000_000 } },
    });
  });

  it('that only their other half was changed of are saved on top of it; what both changed is a conflict', async () => {
    let stored = { ...PLAN };
    let version = 3;
    const { sent } = showConsole(
      {
        ...CONFIG,
        'GET /api/plans/team': () => row('team', stored, version),
        'PUT /api/plans/team': (_body, headers) =>
          headers['if-match'] === `"${version}"` ? { status: 200, body: {} } : STALE,
      },
      '/_console/plans/team',
    );
    const name = await screen.findByLabelText('name');
    fireEvent.change(name, { target: { value: 'Crew' } });
    // Somebody changes the prices: nobody's terms are in the way.
    stored = {
      ...PLAN,
      priceBook: { ...PLAN.priceBook, version: 3, prices: { small: { ...price, outputPicoUsd: 6_000_000 } } },
    };
    version = 4;
    const save = within(screen.getByRole('region', { name: 'Terms and limits' })).getByRole('button', { name: 'Save' });
    fireEvent.click(save);
    await screen.findByText(/Saved as version 4/);
    const last = sent.findLast(({ request }) => request === 'PUT /api/plans/team');
    expect(last?.headers).toMatchObject({ 'if-match': '"4"' });
    expect(bodyOf(last?.body)).toMatchObject({ displayName: 'Crew', priceBook: { version: 3 } });

    fireEvent.change(name, { target: { value: 'Band' } });
    stored = { ...stored, displayName: 'Squad' };
    version = 5;
    fireEvent.click(save);
    const conflict = await screen.findByText(/Somebody changed this while you did/);
    expect(conflict.closest('[role="alert"]')?.textContent).toMatch(
      /−\s+"displayName": "Squad".*\+\s+"displayName": "Band"/s,
    );
  });

  it('are made like another under an id that nobody has; one that exists is said to', async () => {
    const made = { ...CONFIG, 'PUT /api/plans/crew': { status: 412, body: { title: 'It exists already' } } };
    const { sent } = showConsole(made, '/_console/plans');
    await screen.findByRole('link', { name: 'Team' });
    fireEvent.click(screen.getByRole('button', { name: 'New plan' }));
    fireEvent.change(screen.getByLabelText('Id of the new plan'), { target: { value: 'crew' } });
    fireEvent.click(screen.getByRole('button', { name: 'Make the plan' }));
    expect((await screen.findByRole('alert')).textContent).toMatch(/There is a plan “crew” already/);
    const put = sent.find(({ request }) => request === 'PUT /api/plans/crew');
    expect(put?.headers).toMatchObject({ 'if-none-match': '*' });
    expect(bodyOf(put?.body)).toMatchObject({ displayName: 'Team', allotment: PLAN.allotment });
    expect(bodyOf(put?.body)).not.toHaveProperty('id');
  });

  it('are made where there is none yet, and what one is made of is a plan by the rules', async () => {
    const { sent } = showConsole(
      {
        ...CONFIG,
        'GET /api/plans': list(),
        'GET /api/state': { status: 200, body: { ...QUIET, providers: [LIVE] } },
        'PUT /api/plans/first': { status: 200, body: {} },
        'GET /api/plans/first': row('first', PLAN),
      },
      '/_console/plans',
    );
    expect(await screen.findByText(/There is no plan yet/)).toBeTruthy();
    press('New plan');
    fireEvent.change(screen.getByLabelText('Id of the new plan'), { target: { value: 'first' } });
    press('Make the plan');
    await screen.findByText('Terms and limits');
    const made = bodyOf(sent.find(({ request }) => request.startsWith('PUT'))?.body) as object;
    expect(Plan.parse({ id: 'first', ...made })).toMatchObject({
      policy: { routing: { chain: [{ provider: 'primary' }] } },
    });
  });

  it('that are in use are not deleted, and the one who tries is told why', async () => {
    showConsole(
      {
        ...CONFIG,
        'GET /api/plans/team': row('team', PLAN),
        'DELETE /api/plans/team': {
          status: 409,
          body: { title: 'It is in use', detail: 'The tenant globex is on it.' },
        },
      },
      '/_console/plans/team',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Delete Team' }));
    fireEvent.click(screen.getByRole('button', { name: 'Delete Team: sure?' }));
    expect((await screen.findByRole('alert')).textContent).toBe('The tenant globex is on it.');
  });
});

describe('models', () => {
  it('are made where there is none yet, and what one is made of is a model by the rules', async () => {
    const { sent } = showConsole(
      {
        ...CONFIG,
        'GET /api/models': list(),
        'GET /api/state': { status: 200, body: { ...QUIET, providers: [LIVE] } },
        'PUT /api/models/first': { status: 200, body: {} },
        'GET /api/models/first': row('first', MODEL),
      },
      '/_console/models',
    );
    expect(await screen.findByText(/The catalogue is empty/)).toBeTruthy();
    press('New model');
    fireEvent.change(screen.getByLabelText('Id of the new model'), { target: { value: 'first' } });
    press('Make the model');
    await screen.findByText('Who has it, and what we pay');
    expect(
      Model.parse({ id: 'first', ...(bodyOf(sent.find(({ request }) => request.startsWith('PUT'))?.body) as object) }),
    ).toMatchObject({ offers: [{ provider: 'primary' }] });
  });

  it('are listed with who has them at which price, and say where it is not known', async () => {
    showConsole(CONFIG, '/_console/models');
    const shown = (await screen.findByRole('link', { name: 'Small' })).closest('tr')?.textContent;
    expect(shown).toMatch(/8,000.*1,000.*primary \$1\.00 \/ \$5\.00.*other price not known/);
  });

  it('are changed by a viewer in no way', async () => {
    showConsole({ ...CONFIG, ...VIEWER, 'GET /api/models/small': row('small', MODEL) }, '/_console/models/small');
    expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'Delete Small' })).disabled).toBe(true);
    fireEvent.click(screen.getByLabelText('tools'));
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
    expect(screen.getByText('Your role is viewer; this needs admin.')).toBeTruthy();
  });

  it('that do not exist are said not to', async () => {
    showConsole(
      { ...CONFIG, 'GET /api/models/none': { status: 404, body: { title: 'Not found' } } },
      '/_console/models/none',
    );
    expect(await screen.findByText('There is no model none')).toBeTruthy();
  });
});

describe('kill switches', () => {
  it('name what they stop, are set once per thing, and the field that is refused is named', async () => {
    const refused: Answer = {
      status: 400,
      body: {
        title: 'The change is not possible',
        errors: [{ path: 'target', message: 'there is no provider nobody' }],
      },
    };
    const { sent } = showConsole(
      { ...CONFIG, 'PUT /api/kill-switches/provider-nobody': refused },
      '/_console/kill-switches',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Switch something off' }));
    fireEvent.change(screen.getByLabelText('Which provider'), { target: { value: 'nobody' } });
    fireEvent.change(screen.getByLabelText('Message to callers'), { target: { value: 'Back at noon.' } });
    fireEvent.click(screen.getByRole('button', { name: 'Switch it off now' }));
    expect((await screen.findByText('target')).closest('li')?.textContent).toBe('target there is no provider nobody');
    const put = sent.find(({ request }) => request.startsWith('PUT'));
    expect(put?.headers).toMatchObject({ 'if-none-match': '*' });
    expect(bodyOf(put?.body)).toEqual({
      id: 'provider-nobody',
      scope: 'provider',
      target: 'nobody',
      message: 'Back at noon.',
      retryAfterSeconds: 60,
    });
  });

  it('that somebody else changed meanwhile are shown in both versions, and mine goes in their place only when told to', async () => {
    let theirs = SWITCH;
    const puts: string[] = [];
    showConsole(
      {
        ...CONFIG,
        'GET /api/kill-switches': list(row(SWITCH.id, SWITCH)),
        [`GET /api/kill-switches/${SWITCH.id}`]: () => row(SWITCH.id, theirs, 4),
        [`PUT /api/kill-switches/${SWITCH.id}`]: (body, headers) => {
          puts.push(`${headers['if-match']} ${(bodyOf(body) as typeof SWITCH).message}`);
          return headers['if-match'] === '"4"' ? { status: 200, body: {} } : STALE;
        },
      },
      '/_console/kill-switches',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Change provider-primary' }));
    theirs = { ...SWITCH, message: 'Back at one.' };
    fireEvent.change(screen.getByLabelText('Message to callers'), { target: { value: 'Back at two.' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const compared = await screen.findByLabelText('Theirs and mine, line by line');
    expect(compared.textContent).toMatch(/−\s+"message": "Back at one\.".*\+\s+"message": "Back at two\."/s);
    expect(puts).toEqual(['"3" Back at two.']);
    fireEvent.click(screen.getByRole('button', { name: /Put mine in the place/ }));
    await act(async () => undefined);
    expect(puts).toEqual(['"3" Back at two.', '"4" Back at two.']);
  });

  it('are cleared after a second press, under the version that was seen, and stand on the overview while they are set', async () => {
    const { sent } = showConsole({
      ...CONFIG,
      'GET /api/kill-switches': list(row(SWITCH.id, SWITCH)),
      [`DELETE /api/kill-switches/${SWITCH.id}`]: { status: 204 },
    });
    fireEvent.click(await screen.findByRole('link', { name: 'Kill switches', current: false }));
    fireEvent.click(await screen.findByRole('button', { name: 'Switch on again: provider primary' }));
    expect(sent.some(({ request }) => request.startsWith('DELETE'))).toBe(false);
    fireEvent.click(screen.getByRole('button', { name: /sure\?/ }));
    await act(async () => undefined);
    expect(sent.find(({ request }) => request.startsWith('DELETE'))?.headers).toMatchObject({ 'if-match': '"3"' });
    fireEvent.click(screen.getByRole('link', { name: 'Overview' }));
    expect((await screen.findByText(/Switched off by hand/)).closest('p')?.textContent).toContain('provider primary');
  });
});

describe('people', () => {
  const ADA = { email: 'ada@acme.test', roles: { 'acme-prod': 'admin' } };
  const people = {
    ...CONFIG,
    'GET /api/operators': list(
      row('grace', { role: 'operator', enabled: true, createdAt: '2026-01-01T00:00:00.000Z' }),
    ),
    'GET /api/users': list(row('u1', ADA)),
    'GET /api/invitations': {
      status: 200,
      body: {
        rows: [
          {
            id: 'inv_1',
            email: 'new@acme.test',
            role: 'finance',
            workspace: 'acme-prod',
            tenant: 'acme',
            expires_at: '2026-01-08T00:00:00.000Z',
          },
        ],
        next_cursor: null,
      },
    },
  };

  it('are operators for admins alone: nobody else even asks for them', async () => {
    const { sent } = showConsole({ ...people, ...VIEWER }, '/_console/people');
    await screen.findByText('ada@acme.test');
    expect(screen.queryByText('grace')).toBeNull();
    expect(screen.getByText(/shown to admins only/)).toBeTruthy();
    expect(sent.some(({ request }) => request.includes('/api/operators'))).toBe(false);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Change ada@acme.test' }).disabled).toBe(true);
  });

  it('have an operator account changed under its version, without a password that was not given', async () => {
    const { sent } = showConsole(
      { ...people, 'PUT /api/operators/grace': { status: 200, body: {} } },
      '/_console/people',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Change grace' }));
    fireEvent.change(screen.getByLabelText('Role'), { target: { value: 'admin' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await act(async () => undefined);
    const put = sent.find(({ request }) => request.startsWith('PUT'));
    expect(put?.headers).toMatchObject({ 'if-match': '"3"' });
    expect(bodyOf(put?.body)).toEqual({ role: 'admin', enabled: true });
  });

  it('are given and lose roles; what somebody else gave meanwhile is shown before it is lost', async () => {
    const puts: unknown[] = [];
    showConsole(
      {
        ...people,
        'GET /api/users/u1': row('u1', { ...ADA, roles: { 'acme-prod': 'admin', 'acme-staging': 'viewer' } }, 4),
        'PUT /api/users/u1': (body, headers) => {
          puts.push([headers['if-match'], bodyOf(body)]);
          return headers['if-match'] === '"4"' ? { status: 200, body: {} } : STALE;
        },
      },
      '/_console/people',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Change ada@acme.test' }));
    fireEvent.click(screen.getByRole('button', { name: 'Remove the role in acme-prod' }));
    fireEvent.change(screen.getByLabelText('Another workspace'), { target: { value: 'initech-prod' } });
    fireEvent.click(screen.getByRole('button', { name: 'Add a role' }));
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const compared = await screen.findByLabelText('Theirs and mine, line by line');
    expect(compared.textContent).toMatch(/−\s+"acme-staging": "viewer"/);
    fireEvent.click(screen.getByRole('button', { name: 'Take theirs, drop mine' }));
    expect(screen.getByLabelText('acme-staging')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await act(async () => undefined);
    expect(puts).toEqual([
      ['"3"', { roles: { 'initech-prod': 'viewer' } }],
      ['"4"', { roles: { 'acme-prod': 'admin', 'acme-staging': 'viewer' } }],
    ]);
  });

  it('that are invited are listed with how long it lasts, and an invitation is taken back after a second press', async () => {
    const { sent } = showConsole({ ...people, 'DELETE /api/invitations/inv_1': { status: 204 } }, '/_console/people');
    expect((await screen.findByText('new@acme.test')).closest('tr')?.textContent).toMatch(
      /finance of acme-prod.*8 Jan 2026/,
    );
    fireEvent.click(screen.getByRole('button', { name: 'Take back the invitation of new@acme.test' }));
    fireEvent.click(screen.getByRole('button', { name: /sure\?/ }));
    await act(async () => undefined);
    expect(sent.some(({ request }) => request === 'DELETE /api/invitations/inv_1')).toBe(true);
  });
});

describe('breakers', () => {
  it('say for which tenants they are open, on the overview and on the page of the provider', async () => {
    const answers = {
      ...CONFIG,
      'GET /api/state': { status: 200, body: { ...QUIET, providers: [{ ...LIVE, breakers: BREAKERS }] } },
    };
    for (const page of ['/_console', '/_console/providers/primary']) {
      showConsole(answers, page);
      const shown = (): string => document.body.textContent ?? '';
      await waitFor(() => expect(shown()).toContain('for initech only'));
      expect(shown()).toContain('for 14 of 14 tenants');
      expect(shown()).toContain('for 2 of 9 tenants: acme, globex');
      cleanup();
    }
  });
});
