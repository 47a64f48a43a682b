import { act, fireEvent, screen, within } from '@testing-library/react';
import { QUIET, showConsole, SIGNED_IN, type Answer } from './testing.tsx';

const row = (id: string, value: object, version = 3): Answer => ({ status: 200, body: { id, version, value } });
const list = (...rows: Answer[]): Answer => ({
  status: 200,
  body: { rows: rows.map(({ body }) => body), next_cursor: null },
});
const WRITTEN: Answer = { status: 200, body: { id: 'x', version: 1, created: true } };
const STALE: Answer = { status: 412, body: { title: 'Changed in the meantime', versions: { yours: 3, current: 4 } } };
const refused = (...errors: { path: string; message: string }[]): Answer => ({
  status: 400,
  body: { title: 'The change is not possible', errors },
});
const bodyOf = (body: string | undefined): unknown => JSON.parse(body ?? 'null');
const type = (label: string | RegExp, value: string): boolean =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const press = (name: string | RegExp): boolean => fireEvent.click(screen.getByRole('button', { name }));
/** Presses the button of the form that is open, which stands above the policy's. */
const save = (): boolean => fireEvent.click(screen.getAllByRole('button', { name: 'Save' })[0] as HTMLElement);
/** What a field says is wrong with it. */
const faultAt = (label: string): string | null | undefined => {
  const field = screen.getByLabelText(label);
  return field.getAttribute('aria-invalid') === 'true'
    ? document.getElementById((field.getAttribute('aria-describedby') ?? '').split(' ').at(-1) ?? '')?.textContent
    : null;
};

const PLAN = {
  id: 'team',
  displayName: 'Team',
  policy: {},
  tenantLimits: { requests: { perSecond: 20, burst: 40 }, quotas: [] },
  priceBook: { version: 1, effectiveFrom: '2026-01-01T00:00:00.000Z', prices: {} },
  allotment: { totalTokens: 1, feeNanoUsd: 1 },
};
const ACME = {
  id: 'acme',
  name: 'Acme',
  plan: 'team',
  timeZone: 'UTC',
  status: 'active',
  limits: { quotas: [{ id: 'monthly', meter: 'total_tokens' }] },
};
const SPACE = {
  slug: 'acme-prod',
  uuid: '5f0c1a52-3a35-4b2e-9d1f-000000000001',
  tenant: 'acme',
  cellId: 'cell-shared-1',
  status: 'active',
  override: { priority: 'high' },
};
const PROVIDER = {
  id: 'primary',
  displayName: 'Primary',
  dialect: 'openai',
  baseUrl: 'https://one.test/v1',
  region: 'eu',
  credentials: [{ id: 'main', slots: 60, weight: 1, secret: { kind: 'encrypted' } }],
  carryFields: ['sim'],
  headers: {},
  breaker: { failurePercent: 20 },
  enabled: true,
};
const MODEL = {
  id: 'small',
  displayName: 'Small',
  contextTokens: 8_000,
  maxOutputTokens: 1_000,
  abilities: ['chat'],
  tier: 0,
  offers: [{ provider: 'other', providerModel: 's' }],
};
const CONFIG = {
  ...SIGNED_IN,
  'GET /api/plans': list(row('team', PLAN)),
  'GET /api/tenants': list(row('acme', ACME)),
  'GET /api/tenants/acme': row('acme', ACME),
  'GET /api/workspaces': list(row('acme-prod', SPACE)),
  'GET /api/cells': list(
    row('cell-shared-1', { id: 'cell-shared-1', kind: 'shared' }),
    row('cell-globex', { id: 'cell-globex', kind: 'dedicated', tenant: 'globex' }),
  ),
  'GET /api/ledger': list(),
  'GET /api/workspaces/acme-prod/policy': {
    status: 200,
    body: { override: {}, effective: { priority: 'high', limits: { quotas: [] } }, version: 3 },
  },
  'GET /api/workspaces/acme-prod/keys': { status: 200, body: { rows: [] } },
  'GET /api/providers': list(row('primary', PROVIDER)),
  'GET /api/providers/primary': row('primary', PROVIDER),
  'GET /api/models': list(row('small', MODEL)),
};

describe('a tenant', () => {
  it('is made with a plan and only the limits that were given, must not be there yet, and is shown then', async () => {
    const made = { id: 'umbrella', name: 'Umbrella', plan: 'team', limits: { quotas: [] } };
    const { sent } = showConsole(
      { ...CONFIG, 'PUT /api/tenants/umbrella': WRITTEN, 'GET /api/tenants/umbrella': row('umbrella', made, 1) },
      '/_console/tenants',
    );
    expect((await screen.findByRole('link', { name: 'Acme' })).closest('tr')?.textContent).toMatch(
      /acme.*Team.*acme-prod.*UTC/,
    );
    press('New tenant');
    await screen.findByLabelText('Id');
    type('Id', 'umbrella');
    type('Name', 'Umbrella');
    fireEvent.change(within(screen.getByRole('form', { name: 'A new tenant' })).getByLabelText('Plan'), {
      target: { value: 'team' },
    });
    expect(screen.getByLabelText('Requests a second').getAttribute('placeholder')).toBe('plan: 20');
    type('Overage a month at most, $', '12.5');
    press('Make the tenant');
    expect(await screen.findByRole('button', { name: 'Change Umbrella' })).toBeTruthy();
    const put = sent.find(({ request }) => request.startsWith('PUT'));
    expect(put?.headers).toMatchObject({ 'if-none-match': '*' });
    expect(bodyOf(put?.body)).toEqual({ ...made, overageCapNanoUsd: 12_500_000_000 });
  });

  it('is told to need a plan first where there is none', async () => {
    showConsole({ ...CONFIG, 'GET /api/plans': list(), 'GET /api/tenants': list() }, '/_console/tenants');
    expect(await screen.findByText(/There is no tenant yet/)).toBeTruthy();
    press('New tenant');
    expect((await screen.findByRole('link', { name: 'Make a plan' })).getAttribute('href')).toBe('/_console/plans');
  });

  it('says at the field what is wrong with it, above the buttons what concerns no field, and of a name that is taken that it is', async () => {
    let answer = refused(
      { path: 'timeZone', message: 'must be an IANA time zone' },
      { path: 'limits.quotas.0.id', message: 'is there twice' },
    );
    showConsole({ ...CONFIG, 'PUT /api/tenants/acme': () => answer }, '/_console/tenants');
    await screen.findByRole('link', { name: 'Acme' });
    press('New tenant');
    await screen.findByLabelText('Id');
    type('Id', 'acme');
    type('Name', 'Acme again');
    fireEvent.change(within(screen.getByRole('form', { name: 'A new tenant' })).getByLabelText('Plan'), {
      target: { value: 'team' },
    });
    press('Make the tenant');
    expect(
      (await screen.findByText(/the marked fields are not right/)).closest('[role="alert"]')?.textContent,
    ).not.toContain('timeZone');
    expect((await screen.findByText('limits.quotas.0.id')).closest('li')?.textContent).toBe(
      'limits.quotas.0.id is there twice',
    );
    expect([faultAt('Time zone'), faultAt('Name'), screen.getAllByText('must be an IANA time zone').length]).toEqual([
      'must be an IANA time zone',
      null,
      1,
    ]);
    answer = { status: 412, body: { title: 'It exists already' } };
    press('Make the tenant');
    expect(await screen.findByText(/There is a tenant “acme” already/)).toBeTruthy();
  });

  it('is changed under its version with what the form does not show; what somebody else changed meanwhile is shown before it is lost', async () => {
    const puts: unknown[] = [];
    let stored: object = ACME;
    showConsole(
      {
        ...CONFIG,
        'GET /api/tenants/acme': () => row('acme', stored, stored === ACME ? 3 : 4),
        'PUT /api/tenants/acme': (body, headers) => {
          puts.push([headers['if-match'], bodyOf(body)]);
          return headers['if-match'] === '"4"' ? WRITTEN : STALE;
        },
      },
      '/_console/tenants/acme',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Change Acme' }));
    await screen.findByLabelText('Requests a second');
    type('Requests a second', '7');
    stored = { ...ACME, name: 'Acme Corporation' };
    save();
    const compared = await screen.findByLabelText('Theirs and mine, line by line');
    expect(compared.textContent).toMatch(/−\s+"name": "Acme Corporation".*\+\s+"name": "Acme"/s);
    press(/Put mine in the place/);
    await act(async () => undefined);
    const mine = { ...ACME, limits: { ...ACME.limits, requests: { perSecond: 7, burst: 40 } } };
    expect(puts).toEqual([
      ['"3"', mine],
      ['"4"', mine],
    ]);
  });

  it('is saved over a version in which only the control plane wrote its derived window, without asking', async () => {
    const puts: unknown[] = [];
    const derived = {
      ...ACME,
      limits: { quotas: [...ACME.limits.quotas, { id: 'overage-cap', meter: 'total_tokens' }] },
    };
    let version = 3;
    showConsole(
      {
        ...CONFIG,
        'GET /api/tenants/acme': () => row('acme', version === 3 ? ACME : derived, version),
        'PUT /api/tenants/acme': (body, headers) => {
          puts.push([headers['if-match'], bodyOf(body)]);
          return headers['if-match'] === '"4"' ? WRITTEN : STALE;
        },
      },
      '/_console/tenants/acme',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Change Acme' }));
    await screen.findByLabelText('Time zone');
    type('Time zone', 'Europe/Berlin');
    version = 4;
    save();
    await act(async () => undefined);
    const mine = { ...ACME, timeZone: 'Europe/Berlin' };
    expect(puts).toEqual([
      ['"3"', mine],
      ['"4"', mine],
    ]);
    expect(screen.queryByText(/Somebody changed this/)).toBeNull();
  });

  it('that changed since it was read is not deleted but shown as it is now, and goes when it is deleted again', async () => {
    let version = 3;
    const { sent } = showConsole(
      {
        ...CONFIG,
        'GET /api/tenants/acme': () =>
          row('acme', { ...ACME, name: version === 3 ? 'Acme' : 'Acme Corporation' }, version),
        'DELETE /api/tenants/acme': (_body, headers) => (headers['if-match'] === '"4"' ? { status: 204 } : STALE),
      },
      '/_console/tenants/acme',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Delete Acme' }));
    version = 4;
    press('Delete Acme: sure?');
    fireEvent.click(await screen.findByRole('button', { name: 'Delete Acme Corporation' }));
    expect(screen.getByText(/It was not deleted: it has changed/)).toBeTruthy();
    press('Delete Acme Corporation: sure?');
    await screen.findByRole('button', { name: 'New tenant' });
    expect(
      sent.filter(({ request }) => request.startsWith('DELETE')).map(({ headers }) => headers['if-match']),
    ).toEqual(['"3"', '"4"']);
  });

  it('is edited as a whole as JSON too, and not sent while that is no JSON', async () => {
    const { sent } = showConsole({ ...CONFIG, 'PUT /api/tenants/acme': WRITTEN }, '/_console/tenants/acme');
    fireEvent.click(await screen.findByRole('button', { name: 'Change Acme' }));
    const text = await screen.findByLabelText<HTMLTextAreaElement>('All of it, as JSON');
    fireEvent.change(text, { target: { value: '{' } });
    expect(screen.getAllByRole<HTMLButtonElement>('button', { name: 'Save' })[0]?.disabled).toBe(true);
    expect(
      within(text.closest('form') as HTMLElement)
        .getByLabelText('Time zone')
        .matches(':disabled'),
    ).toBe(true);
    fireEvent.change(text, { target: { value: JSON.stringify({ ...ACME, limits: { quotas: [] } }) } });
    save();
    await act(async () => undefined);
    expect(bodyOf(sent.find(({ request }) => request.startsWith('PUT'))?.body)).toEqual({
      ...ACME,
      limits: { quotas: [] },
    });
  });

  it('is deleted after a second press under its version, and one that has workspaces says so', async () => {
    const { sent } = showConsole(
      {
        ...CONFIG,
        'DELETE /api/tenants/acme': {
          status: 409,
          body: { title: 'It is in use', detail: 'The workspace acme-prod belongs to it.' },
        },
      },
      '/_console/tenants/acme',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Delete Acme' }));
    expect(sent.some(({ request }) => request.startsWith('DELETE'))).toBe(false);
    press('Delete Acme: sure?');
    expect((await screen.findByRole('alert')).textContent).toBe('The workspace acme-prod belongs to it.');
    expect(sent.find(({ request }) => request.startsWith('DELETE'))?.headers).toMatchObject({ 'if-match': '"3"' });
  });

  it('that does not exist is said not to', async () => {
    showConsole(
      { ...CONFIG, 'GET /api/tenants/nobody': { status: 404, body: { title: 'Not found' } } },
      '/_console/tenants/nobody',
    );
    expect(await screen.findByText('There is no tenant nobody')).toBeTruthy();
  });

  it('is not changed by a viewer, who is told why', async () => {
    showConsole(
      { ...CONFIG, 'GET /api/session': { status: 200, body: { user: 'eve', role: 'viewer' } } },
      '/_console/tenants/acme',
    );
    const change = await screen.findByRole<HTMLButtonElement>('button', { name: 'Change Acme' });
    expect([change.disabled, change.title]).toEqual([true, 'Your role is viewer; this needs admin.']);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'New workspace' }).disabled).toBe(true);
  });
});

describe('a workspace', () => {
  it('is made for its tenant under a name that nobody has; what is wrong with the name is told at it', async () => {
    let answer = refused({ path: 'slug', message: 'must be a DNS label' });
    const { sent } = showConsole(
      {
        ...CONFIG,
        'GET /api/workspaces': list(),
        'PUT /api/workspaces/Umbrella': () => answer,
        'PUT /api/workspaces/umbrella-prod': () => answer,
      },
      '/_console/tenants/acme',
    );
    expect(await screen.findByText(/No workspace yet, so nothing can call/)).toBeTruthy();
    press('New workspace');
    type('Name', 'Umbrella');
    await screen.findByRole('option', { name: 'cell-shared-1' });
    expect(screen.queryByRole('option', { name: /cell-globex/ })).toBeNull();
    press('Make the workspace');
    await screen.findByText('must be a DNS label');
    expect(faultAt('Name')).toBe('must be a DNS label');
    answer = WRITTEN;
    type('Name', 'umbrella-prod');
    press('Make the workspace');
    await act(async () => undefined);
    const put = sent.find(({ request }) => request === 'PUT /api/workspaces/umbrella-prod');
    expect([put?.headers['if-none-match'], bodyOf(put?.body)]).toEqual([
      '*',
      { tenant: 'acme', slug: 'umbrella-prod' },
    ]);
    expect(screen.queryByRole('form', { name: 'A new workspace' })).toBeNull();
  });

  it('is suspended without losing its policy, and deleted after a second press', async () => {
    const { sent } = showConsole(
      { ...CONFIG, 'PUT /api/workspaces/acme-prod': WRITTEN, 'DELETE /api/workspaces/acme-prod': { status: 204 } },
      '/_console/tenants/acme',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Change acme-prod' }));
    type('Calls', 'suspended');
    save();
    await act(async () => undefined);
    const put = sent.find(({ request }) => request.startsWith('PUT'));
    expect([put?.headers['if-match'], bodyOf(put?.body)]).toEqual(['"3"', { ...SPACE, status: 'suspended' }]);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete acme-prod' }));
    press('Delete acme-prod: sure?');
    await act(async () => undefined);
    expect(sent.find(({ request }) => request.startsWith('DELETE'))?.headers).toMatchObject({ 'if-match': '"3"' });
  });
});

describe('a provider', () => {
  it('is added with an account whose key is said where it is', async () => {
    const { sent } = showConsole(
      {
        ...CONFIG,
        'GET /api/providers': list(),
        'PUT /api/providers/openai': WRITTEN,
        'GET /api/providers/openai': row('openai', { ...PROVIDER, id: 'openai' }),
      },
      '/_console/providers',
    );
    expect(await screen.findByText(/There is no provider yet/)).toBeTruthy();
    press('New provider');
    type('Id', 'openai');
    type('Name', 'OpenAI');
    type('Address', 'https://api.openai.com/v1');
    type('Variable', 'SLUICE_SECRET_OPENAI');
    type('Tokens a minute', '90000');
    press('Add an account');
    fireEvent.click(screen.getAllByRole('button', { name: 'Remove this account' })[1] as HTMLElement);
    press('Add the provider');
    await screen.findByText('Configuration of openai');
    const put = sent.find(({ request }) => request.startsWith('PUT'));
    expect(put?.headers).toMatchObject({ 'if-none-match': '*' });
    expect(bodyOf(put?.body)).toEqual({
      id: 'openai',
      displayName: 'OpenAI',
      dialect: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      credentials: [
        { id: 'main', slots: 20, secret: { kind: 'env', name: 'SLUICE_SECRET_OPENAI' }, tokensPerMinute: 90_000 },
      ],
    });
  });

  it('keeps a stored key that nobody touched, and says at the account what is wrong with its key', async () => {
    const { sent } = showConsole(
      {
        ...CONFIG,
        'PUT /api/providers/primary': refused({
          path: 'credentials.0.secret',
          message: "must be entered again, because the provider's address changes",
        }),
      },
      '/_console/providers/primary',
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Change Primary' }));
    type('Address', 'https://two.test/v1');
    save();
    await screen.findByText(/must be entered again/);
    expect(faultAt('Its key is')).toBe("must be entered again, because the provider's address changes");
    const put = sent.find(({ request }) => request.startsWith('PUT'));
    expect([put?.headers['if-match'], bodyOf(put?.body)]).toEqual([
      '"3"',
      { ...PROVIDER, baseUrl: 'https://two.test/v1' },
    ]);
  });

  it('takes a key that is typed, hidden, and shows it in no conflict', async () => {
    const { sent } = showConsole({ ...CONFIG, 'PUT /api/providers/primary': STALE }, '/_console/providers/primary');
    fireEvent.click(await screen.findByRole('button', { name: 'Change Primary' }));
    type('Its key is', 'entered');
    expect(screen.getByLabelText('Key').getAttribute('type')).toBe('password');
    type('Key', 'sk-sekret');
    save();
    const compared = await screen.findByLabelText('Theirs and mine, line by line');
    expect(compared.textContent).toContain('"kind": "entered"');
    expect(compared.textContent).not.toContain('sekret');
    expect(bodyOf(sent.find(({ request }) => request.startsWith('PUT'))?.body)).toMatchObject({
      credentials: [{ secret: { kind: 'entered', value: 'sk-sekret' } }],
    });
  });

  it('is given a model with what we pay for it, under the version of the model', async () => {
    const { sent } = showConsole({ ...CONFIG, 'PUT /api/models/small': WRITTEN }, '/_console/providers/primary');
    expect(await screen.findByText(/It has no model yet/)).toBeTruthy();
    type('Add a model', 'small');
    type('Input', '0.25');
    save();
    await act(async () => undefined);
    const put = sent.find(({ request }) => request.startsWith('PUT'));
    expect(put?.headers).toMatchObject({ 'if-match': '"3"' });
    expect(bodyOf(put?.body)).toEqual({
      ...MODEL,
      offers: [...MODEL.offers, { provider: 'primary', providerModel: 'small', price: { inputPicoUsd: 250_000 } }],
    });
  });

  it('loses a model only after a second press, and not one that nobody else has', async () => {
    const alone = {
      ...MODEL,
      id: 'alone',
      displayName: 'Alone',
      offers: [{ provider: 'primary', providerModel: 'a' }],
    };
    const both = { ...MODEL, offers: [...MODEL.offers, { provider: 'primary', providerModel: 's' }] };
    const { sent } = showConsole(
      { ...CONFIG, 'GET /api/models': list(row('alone', alone), row('small', both)), 'PUT /api/models/small': WRITTEN },
      '/_console/providers/primary',
    );
    expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'Remove Alone' })).disabled).toBe(true);
    press('Remove Small');
    press('Remove Small: sure?');
    await act(async () => undefined);
    expect(bodyOf(sent.find(({ request }) => request.startsWith('PUT'))?.body)).toEqual(MODEL);
  });
});

it('a tenant of which the live picture knows nothing yet is shown from the configuration', async () => {
  showConsole(
    { ...CONFIG, 'GET /api/state': { status: 200, body: { ...QUIET, tenants: [] } } },
    '/_console/tenants/acme',
  );
  expect(await screen.findByRole('button', { name: 'Change Acme' })).toBeTruthy();
  expect(screen.getByRole('button', { name: 'New workspace' })).toBeTruthy();
});
