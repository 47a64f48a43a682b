import { act, fireEvent, screen, within } from '@testing-library/react';
import type { ChaosMenuItem, ChaosReport, QueueState } from '@sluice/contracts';
import { QUIET, showConsole, SIGNED_IN } from './testing.tsx';

const FLOOD: ChaosMenuItem = {
  id: 'flood-initech',
  group: 'load',
  label: 'initech · 120/s',
  does: 'sends 120 calls a second',
  path: '/api/chaos/flood',
  body: { tenant: 'initech', rps: 120, seconds: 20 },
  expects: ['every tenant but initech is unchanged'],
};
const REPORT: ChaosReport = {
  id: 'a',
  kind: 'flood',
  target: 'initech',
  started_at: '2026-01-01T00:00:00.000Z',
  ends_at: '2026-01-01T00:00:20.000Z',
  phase: 'running',
  checks: [
    {
      expected: 'every tenant but initech is unchanged',
      observed: '12 calls of the others: 0 shed',
      verdict: 'holds',
      phase: 'during',
    },
  ],
};
const DEAD: QueueState = {
  queue: 'audit',
  dlq: 'audit-dlq',
  depth: 6,
  oldest_age_s: 9,
  topic: 'audit-events',
  waiting: 0,
  in_flight: 0,
  consumer: 'control-plane',
};

describe('the operator console', () => {
  it('asks a stranger to sign in and shows nothing else', async () => {
    showConsole({ 'GET /api/session': { status: 401, body: { title: 'Sign in first' } } });
    expect(await screen.findByRole('button', { name: 'Sign in' })).toBeTruthy();
    expect(screen.queryByText(/Tenants/)).toBeNull();
  });

  it('says who is affected, in words and not by colour alone', async () => {
    showConsole(SIGNED_IN);
    expect((await screen.findByText('Initech')).closest('article')?.textContent).toMatch(/throttled/);
    expect(screen.getByText('Acme').closest('article')?.textContent).toMatch(/quiet/);
  });

  it('says what is degraded, when, and that the spine is away', async () => {
    showConsole({
      ...SIGNED_IN,
      'GET /api/state': {
        status: 200,
        body: {
          ...QUIET,
          problems: ['The database does not answer since 2026-01-01T10:00:00.000Z: gateways serve on.'],
        },
      },
    });
    const problem = await screen.findByText(/The database does not answer since/);
    expect(problem.textContent).toBe(
      `The database does not answer since ${new Date('2026-01-01T10:00:00.000Z').toLocaleTimeString('en-GB')}: gateways serve on.`,
    );
    expect(screen.getByText(/The spine does not answer/)).toBeTruthy();
  });

  it('says so when the control plane is away, instead of an empty page', async () => {
    showConsole({ 'GET /api/session': { status: 503, body: { detail: 'Starting.' } } });
    expect((await screen.findByRole('alert')).textContent).toMatch(/does not answer: Starting\. Inference goes on/);
  });

  it('moves with the stream, says when the stream breaks, and goes on when it is back', async () => {
    const console = showConsole(SIGNED_IN);
    await screen.findByText('Initech');
    act(() => console.push({ ...QUIET, config_version: 8 }));
    expect(await screen.findByText(/configuration 8/)).toBeTruthy();
    act(() => console.breakStream());
    expect((await screen.findByRole('alert')).textContent).toMatch(/stands still/);
    expect(screen.queryByText('Nothing is degraded.')).toBeNull();
    act(() => console.push({ ...QUIET, config_version: 9 }));
    expect(await screen.findByText(/configuration 9/)).toBeTruthy();
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('a failure on purpose', () => {
  const routes = {
    ...SIGNED_IN,
    'GET /api/chaos/menu': { status: 200, body: [FLOOD] },
    'POST /api/chaos/flood': { status: 202, body: {} },
    'POST /api/chaos/stop': { status: 200, body: {} },
  };

  it('says what to expect before it is pressed, is sent as the menu says, and shows the verdict of the server', async () => {
    const console = showConsole(routes, '/_console/chaos');
    const button = await screen.findByRole('button', { name: 'initech · 120/s' });
    expect(button.closest('.card')?.textContent).toContain('every tenant but initech is unchanged');
    fireEvent.click(button);
    await act(async () => undefined);
    expect(console.sent.find(({ request }) => request === 'POST /api/chaos/flood')?.body).toBe(
      JSON.stringify(FLOOD.body),
    );
    act(() =>
      console.push({
        ...QUIET,
        chaos: [{ id: 'a', kind: 'flood', target: 'initech', ends_at: REPORT.ends_at }],
        chaos_reports: [REPORT],
      }),
    );
    const report = (await screen.findByText('12 calls of the others: 0 shed')).closest('li');
    expect(report?.textContent).toMatch(/as expected/);
    fireEvent.click(screen.getByRole('button', { name: 'Stop all' }));
    await act(async () => undefined);
    expect(console.sent.some(({ request }) => request === 'POST /api/chaos/stop')).toBe(true);
  });

  it('that runs is there after the page was loaded anew, on the overview too', async () => {
    showConsole({ ...routes, 'GET /api/state': { status: 200, body: { ...QUIET, chaos_reports: [REPORT] } } });
    expect(await screen.findByText('12 calls of the others: 0 shed')).toBeTruthy();
  });

  it('is not offered to a viewer, who is told why', async () => {
    showConsole(
      { ...routes, 'GET /api/session': { status: 200, body: { user: 'eve', role: 'viewer' } } },
      '/_console/chaos',
    );
    expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'initech · 120/s' })).disabled).toBe(true);
    expect(screen.getByText('Your role is viewer; this needs operator.')).toBeTruthy();
  });
});

describe('dead letters', () => {
  it('are redriven by a button that names the queue, and what came of it is told', async () => {
    const console = showConsole({
      ...SIGNED_IN,
      'GET /api/state': { status: 200, body: { ...QUIET, queues: [DEAD] } },
      'POST /api/dlqs/audit/redrive': {
        status: 200,
        body: { queue: 'audit', moved: 6, left: 0, refused: 0, native: false, finished: true },
      },
    });
    fireEvent.click(await screen.findByRole('button', { name: 'Redrive audit' }));
    expect((await screen.findByText(/6 moved back/)).textContent).toContain('audit');
    expect(console.sent.at(-1)?.request).toBe('POST /api/dlqs/audit/redrive');
  });
});

describe('editing a policy', () => {
  const policy = (perSecond: number, version: number) => ({
    status: 200,
    body: {
      override: { limits: { requests: { perSecond, burst: 10 } } },
      effective: { priority: 'low', limits: { requests: { perSecond, burst: 10 }, quotas: [] } },
      version,
    },
  });
  const base = {
    ...SIGNED_IN,
    'GET /api/ledger': { status: 200, body: { rows: [], next_cursor: null } },
    'GET /api/workspaces/initech-prod/keys': { status: 200, body: { rows: [] } },
  };

  it('shows both versions when somebody else was faster, and saves mine over theirs only when told to', async () => {
    let version = 3;
    const puts: { body: string | undefined; ifMatch: string | undefined }[] = [];
    showConsole(
      {
        ...base,
        'GET /api/workspaces/initech-prod/policy': () => policy(version === 3 ? 5 : 9, version),
        'PUT /api/workspaces/initech-prod/policy': (body, headers) => {
          puts.push({ body, ifMatch: headers['if-match'] });
          if (headers['if-match'] === '"3"') {
            version = 4;
            return { status: 412, body: { title: 'Changed in the meantime', versions: { yours: 3, current: 4 } } };
          }
          return { status: 200, body: {} };
        },
      },
      '/_console/tenants/initech',
    );
    fireEvent.change(await screen.findByLabelText(/requests per second/), { target: { value: '7' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const conflict = await screen.findByText(/Somebody changed this while you did/);
    const compared = within(conflict.closest('[role="alert"]') as HTMLElement).getByLabelText(
      'Theirs and mine, line by line',
    ).textContent;
    expect(compared).toContain('−       "perSecond": 9,');
    expect(compared).toContain('+       "perSecond": 7,');
    expect(puts).toHaveLength(1);
    fireEvent.click(screen.getByRole('button', { name: /Put mine in the place/ }));
    await screen.findByText(/Saved as version 4/);
    expect(puts[1]?.ifMatch).toBe('"4"');
    expect(JSON.parse(puts[1]?.body ?? '')).toEqual({ limits: { requests: { perSecond: 7, burst: 10 } } });
  });

  it('names the field that the control plane refuses', async () => {
    showConsole(
      {
        ...base,
        'GET /api/workspaces/initech-prod/policy': policy(5, 3),
        'PUT /api/workspaces/initech-prod/policy': {
          status: 400,
          body: {
            title: 'The change is not possible',
            errors: [{ path: 'limits.requests.perSecond', message: 'must be positive' }],
          },
        },
      },
      '/_console/tenants/initech',
    );
    fireEvent.change(await screen.findByLabelText(/requests per second/), { target: { value: '-1' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    expect((await screen.findByText('limits.requests.perSecond')).closest('li')?.textContent).toBe(
      'limits.requests.perSecond must be positive',
    );
  });
});
