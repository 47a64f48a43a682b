import { render, screen } from '@testing-library/react';
import { groupCounts, OutcomeBars } from './outcome-bars.tsx';

describe('outcome bars', () => {
  it('every outcome lands in exactly one group, so that nothing is drawn twice or lost', () => {
    const counts = groupCounts({
      ok: 1,
      throttled: 2,
      shed: 3,
      quota: 4,
      upstream_error: 5,
      timeout: 6,
      interrupted: 7,
      internal_error: 8,
      client_error: 9,
      unauthenticated: 10,
      cancelled: 11,
    });
    expect(Object.values(counts).reduce((a, b) => a + b, 0)).toBe(66);
    expect(counts).toEqual({ ok: 1, throttled: 2, shed: 3, quota: 4, upstream: 26, other: 30 });
  });

  it('says in words what it shows', () => {
    render(<OutcomeBars label="initech" max={10} seconds={[{ second: 1, outcomes: { ok: 3, throttled: 4 } }]} />);
    expect(screen.getByRole('img').getAttribute('aria-label')).toBe(
      'initech: in the last 1 seconds 3 ok, 4 throttled, 0 shed, 0 quota, 0 upstream, 0 other',
    );
  });

  it('draws a bar only for what happened', () => {
    const { container } = render(
      <OutcomeBars
        label="acme"
        max={10}
        seconds={[
          { second: 1, outcomes: { ok: 3 } },
          { second: 2, outcomes: {} },
        ]}
      />,
    );
    expect(container.querySelectorAll('svg > rect')).toHaveLength(1);
  });
});
