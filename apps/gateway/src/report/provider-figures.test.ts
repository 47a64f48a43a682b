import { createFakeClock } from '@sluice/testing';
import { createProviderFigures } from './provider-figures.ts';

describe('figures of a provider', () => {
  it('count what the last ten seconds brought, and blame it for its own failures only', () => {
    const clock = createFakeClock(0);
    const figures = createProviderFigures({ clock });
    figures.record({ provider: 'primary', outcome: 'ok', ttfb_ms: 100 });
    figures.record({ provider: 'primary', outcome: 'caller_error', ttfb_ms: 300 });
    figures.record({ provider: 'primary', outcome: 'connect_error' });
    figures.record({ provider: 'secondary', outcome: 'cancelled' });
    expect(figures.report()).toEqual([
      { provider: 'primary', attempts: 3, failed: 1, answered: 2, ttfb_ms_mean: 200, ttfb_ms_max: 300 },
      { provider: 'secondary', attempts: 1, failed: 0, answered: 0, ttfb_ms_mean: 0, ttfb_ms_max: 0 },
    ]);
    clock.advance(9_000);
    figures.record({ provider: 'primary', outcome: 'timeout' });
    expect(figures.report()[0]).toMatchObject({ attempts: 4, failed: 2 });
    clock.advance(2_000);
    expect(figures.report()[0]).toMatchObject({ attempts: 1, failed: 1, answered: 0 });
    clock.advance(60_000);
    expect(figures.report()[0]).toMatchObject({ attempts: 0 });
  });
});
