import { screen, waitFor, within } from '@testing-library/react';
import { usageOf } from '../test-support/fixture-views.ts';
import { closeConsole, showConsole } from '../test-support/show-console.tsx';
import { changeInWords } from './change.tsx';
import { customRange, presetRange, stepsOf } from './ranges.ts';
import { stack } from './usage-chart.tsx';

afterEach(closeConsole);

describe('usage and cost', () => {
  it('sets each figure beside the time before, with the exact amount on hover', async () => {
    showConsole('/acme-prod/usage');
    const totals = within(await screen.findByRole('region', { name: 'Totals' }));
    expect(totals.getByText('$410.11').getAttribute('title')).toBe('410.114250733 USD');
    expect(totals.getByText('cost').parentElement?.textContent).toBe('cost$410.11+15 % · was $356.80');
  });

  it('groups by what is chosen, keeps the choice in the address, and offers the same as CSV', async () => {
    const { bff, user } = showConsole('/acme-prod/usage');
    await user.click(await screen.findByRole('button', { name: 'API key' }));
    expect(await screen.findByText('production backend')).toBeTruthy();
    expect(screen.getByText('(revoked)')).toBeTruthy();
    expect(window.location.search).toBe('?by=key');
    expect(bff.asked.at(-1)).toContain('by=key');
    const csv = new URL(
      screen.getByRole('link', { name: 'Download CSV' }).getAttribute('href') as string,
      'http://x.test',
    );
    expect(Object.fromEntries(csv.searchParams)).toMatchObject({
      workspace: 'acme-prod',
      by: 'key',
      step: 'day',
      format: 'csv',
    });
  });

  it('gives the chart as a table too, with a row for every day', async () => {
    showConsole('/acme-prod/usage');
    const table = within(await screen.findByRole('region', { name: 'Cost per day by model, as a table' }));
    expect(table.getAllByRole('row')).toHaveLength(31);
    expect(table.getByRole('row', { name: /^Feb 14/ }).textContent).toBe('Feb 14$6.30$4.20$2.10');
  });

  it('leaves money out for a role without cost:read, and says why when asked', async () => {
    const hidden = JSON.parse(
      JSON.stringify(usageOf('model'), (key, value: unknown) => (key === 'billed_nanousd' ? null : value)),
    ) as unknown;
    showConsole('/acme-staging/usage', ({ routes }) => (routes['GET /api/usage'] = { status: 200, body: hidden }));
    const totals = within(await screen.findByRole('region', { name: 'Totals' }));
    expect(totals.getByTitle(/cost:read/).textContent).toBe('–');
    expect(screen.queryByText('Cost before')).toBeNull();
    await screen.findByRole('region', { name: 'Calls per day by model, as a table' });
    expect(document.body.textContent).not.toContain('$');
  });

  it('says which days make no range', async () => {
    showConsole('/acme-prod/usage?first=2026-03-10&last=2026-03-01');
    expect((await screen.findByRole('alert')).textContent).toBe('The last day must not be before the first.');
  });

  it('says what to do when there is nothing', async () => {
    const empty = {
      ...usageOf('model'),
      points: [],
      groups: [],
      totals: { calls: 0, input_tokens: 0, output_tokens: 0, billed_nanousd: 0 },
    };
    showConsole(
      '/acme-prod/usage',
      ({ routes }) =>
        (routes['GET /api/usage'] = { status: 200, body: { ...empty, previous: { ...empty.previous, calls: 0 } } }),
    );
    await waitFor(() => expect(screen.getByText('No calls in this time')).toBeTruthy());
  });
});

describe('ranges', () => {
  it('end with the current hour or day, and have a step for each, without calls as well', () => {
    const nowMs = Date.parse('2026-03-15T12:34:56.000Z');
    expect(presetRange('24h', nowMs)).toEqual({
      from: '2026-03-14T13:00:00.000Z',
      to: '2026-03-15T13:00:00.000Z',
      step: 'hour',
    });
    expect(presetRange('7d', nowMs)).toEqual({
      from: '2026-03-09T00:00:00.000Z',
      to: '2026-03-16T00:00:00.000Z',
      step: 'day',
    });
    expect(stepsOf(presetRange('7d', nowMs))).toHaveLength(7);
    expect(customRange('2026-03-01', '2026-03-01')).toEqual({
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-02T00:00:00.000Z',
      step: 'hour',
    });
    expect(customRange('', '2026-03-01')).toBe('Give both days.');
    expect(customRange('2024-01-01', '2026-03-01')).toMatch(/At most 400 days/);
  });
});

describe('stacks', () => {
  it('sum to the points, with the smaller names as one', () => {
    const steps = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];
    const points = ['a', 'b', 'c', 'd', 'e', 'f', 'g', null].flatMap((model, index) =>
      steps.map((at) => ({
        at,
        model,
        feature: null,
        calls: index + 1,
        input_tokens: 0,
        output_tokens: 0,
        billed_nanousd: 0,
      })),
    );
    const series = stack(points, steps, 'model', ({ calls }) => calls);
    expect(series.map(({ name }) => name)).toEqual(['no model', 'g', 'f', 'e', 'd', 'others']);
    expect(series.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBe(72);
  });
});

it.each([
  [5, 5, 'as before'],
  [0, 0, 'none before either'],
  [5, 0, 'new'],
  [0, 5, '−100 %'],
  [103, 100, '+3.0 %'],
  [1200, 100, '12 times'],
])('%d after %d is %s', (now, before, words) => expect(changeInWords(now, before)).toBe(words));
