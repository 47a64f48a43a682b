import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import type { DriftAnswer, StorageAnswer } from '@sluice/contracts';
import type { OperatorApi, Session } from '../api/operator-api.ts';
import { SessionContext } from '../session/role.tsx';
import { Reactions } from './reactions.tsx';
import { Storage } from './storage.tsx';

type Answer = NonNullable<DriftAnswer['reactions']>;
const at = (hour: number): string => new Date(2026, 0, 1, hour, 0, 0).toISOString();
const WATCHING: Answer = {
  mode: 'watching',
  step: 'watching',
  highest: 'rollback',
  steps: ['watching', 'alert', 'explore', 'forget_slowly', 'forget', 'freeze', 'rollback'],
  effects: { gamma_factor: 1, floor_factor: 1, keep: 1, frozen: false },
  withheld: 0,
  history: [],
};
const FORGETTING: Answer = {
  ...WATCHING,
  mode: 'reacting',
  step: 'forget',
  since: at(9),
  suspects: ['large'],
  ends: { to: 'forget_slowly', not_before: at(10), rewards_left: 420 },
  history: [
    {
      at: at(9),
      from: 'forget_slowly',
      to: 'forget',
      kind: 'up',
      actor: 'system',
      why: 'calibration of large: -0.243 beyond 0.05 after 4492; detection 2 of 2',
    },
  ],
};
const HELD: Answer = {
  ...WATCHING,
  mode: 'held',
  step: 'freeze',
  since: at(9),
  suspects: [],
  held_by: 'ada',
  held_for: 'the judge is broken',
  withheld: 12,
};

function show(answer: Answer, role: Session['role'] = 'operator') {
  const asked: unknown[] = [];
  const router = {
    holdDrift: async (...given: unknown[]) => void asked.push(['hold', ...given]),
    releaseDrift: async (...given: unknown[]) => void asked.push(['release', ...given]),
  } as unknown as OperatorApi['router'];
  let done = 0;
  const { container } = render(
    <QueryClientProvider client={new QueryClient()}>
      <SessionContext.Provider value={{ user: 'ops', role }}>
        <Reactions api={{ router }} answer={answer} onDone={() => (done += 1)} />
      </SessionContext.Provider>
    </QueryClientProvider>,
  );
  return { asked, text: () => container.textContent, done: () => done };
}

describe('the reactions to drift', () => {
  it('say what is done, since when, of whom, why, and what ends it', () => {
    const text = show(FORGETTING).text();
    expect(text).toContain(
      'forget it tries other models more often and quickly forgets what it learned of the suspects since 09:00:00 · suspects: large',
    );
    expect(text).toContain(
      'Goes down to forget slowly when nothing is detected until 10:00:00 and 420 more rewards have come.',
    );
    expect(text).toContain('09:00:00 forget slowly → forget  calibration of large: -0.243 beyond 0.05');
  });

  it('say what would be done while nothing is, and when they are off', () => {
    expect(show(WATCHING).text()).toContain('goes no further by itself than rollback');
    expect(show({ ...WATCHING, highest: 'watching' }).text()).toContain('Reactions are off in this deployment');
  });

  it('are held at a step with a reason', async () => {
    const { asked, done } = show(FORGETTING);
    fireEvent.click(screen.getByText('Hold at a step'));
    expect(
      [...(screen.getByLabelText('Step to hold') as HTMLSelectElement).options].map(({ value }) => value),
    ).not.toContain('rollback');
    fireEvent.change(screen.getByLabelText('Step to hold'), { target: { value: 'freeze' } });
    fireEvent.change(screen.getByLabelText('Reason to hold'), { target: { value: 'the judge is broken' } });
    fireEvent.click(screen.getByText('Hold'));
    await waitFor(() => expect([asked, done()]).toEqual([[['hold', 'freeze', 'the judge is broken']], 1]));
  });

  it('say who holds them and why, and are released with a reason, but not by a viewer', async () => {
    const { asked, text } = show(HELD);
    expect(text()).toContain('Held by ada: the judge is broken. Nothing moves it until it is released.');
    expect(text()).toContain('12 rewards of all time were counted and not learned');
    fireEvent.click(screen.getByText('Release'));
    fireEvent.change(screen.getByLabelText('Reason to release'), { target: { value: 'mended' } });
    fireEvent.click(screen.getByText('Release'));
    await waitFor(() => expect(asked).toEqual([['release', 'mended']]));
    const viewer = show(HELD, 'viewer');
    expect(viewer.asked).toEqual([]);
    expect(screen.getAllByText('Release').some((button) => (button as HTMLButtonElement).disabled)).toBe(true);
  });
});

it('what the router keeps is shown with its bounds, and what stays beyond them', () => {
  const answer: StorageAnswer = {
    measured_at: at(9),
    keep: { days: 90, rows: 1_000_000 },
    decisions: { rows: 1_200_000, oldest: at(9), bytes: 3_000_000_000 },
    journal: { rows: 4_000 },
    pruned: { decisions: 7, journal: 3 },
    held: 200_000,
    kept_for_rollout_since: at(9),
  };
  const text = render(<Storage answer={answer} />).container.textContent;
  expect(text).toContain('Kept for 90 days, at most 1,000,000 rows of each');
  expect(text).toMatch(/Decisions 1,200,000, the oldest of 01\/01\/2026, [\d.]+ .?B/);
  expect(text).toContain(
    '7 decisions and 3 entries were deleted since its start. 200,000 decisions stay beyond their bound',
  );
  expect(
    render(
      <Storage
        answer={{ keep: answer.keep, decisions: {}, journal: {}, pruned: { decisions: 0, journal: 0 }, held: 0 }}
      />,
    ).container.textContent,
  ).toContain('not been counted yet');
});
