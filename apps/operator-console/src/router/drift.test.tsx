import { render } from '@testing-library/react';
import type { DriftAnswer } from '@sluice/contracts';
import { Drift } from './drift.tsx';

const QUIET: DriftAnswer = {
  window: { reference: 1_000, recent: 1_000, needed: 500 },
  features: [],
  arm_mix: { psi: 0.01, level: 'stable' },
  rewards: [
    {
      model: 'small',
      n: 400,
      statistic: 1,
      threshold: 15,
      calibration: 0.001,
      recent: { n: 400, calibration: 0.001, cuts: 0 },
    },
  ],
};
const textOf = (more: Partial<DriftAnswer>): string =>
  render(<Drift answer={{ ...QUIET, ...more }} />).container.textContent;

describe('the drift of the router', () => {
  it('says that nothing moved, and nothing of weights while there are none', () => {
    expect(textOf({})).toContain("No model's rewards have moved");
    expect(textOf({})).not.toContain('Mean weight');
  });

  it('shows where the newest rewards have another mean than all, though no alarm was raised', () => {
    const cut = new Date(2026, 0, 1, 10, 20, 30).toISOString();
    const text = textOf({
      rewards: [
        {
          model: 'large',
          n: 900,
          statistic: 3,
          threshold: 15,
          calibration: -0.012,
          recent: { n: 96, calibration: -0.21, cuts: 2, cut_at: cut },
        },
      ],
    });
    expect(text).toContain(
      'rewards changed large another mean 2 times, last at 10:20:30; the newest 96 are −0.210 against the prediction, all −0.012',
    );
  });

  it('shows an alarm for a fall before all else', () => {
    const text = textOf({
      rewards: [
        {
          model: 'large',
          n: 900,
          statistic: 16,
          threshold: 15,
          calibration: -0.1,
          alarmed_at: new Date(2026, 0, 1, 9, 0, 0).toISOString(),
        },
      ],
    });
    expect(text).toContain('rewards fell large last alarm at 09:00:00; all −0.100');
  });

  it.each([
    ['as logged', 'stable' as const],
    ['not as logged', 'off' as const],
    ['too few', 'too_few' as const],
  ])('says of the weights that decisions are drawn %s', (word, level) => {
    expect(textOf({ mean_weight: { n: 1_000, mean: 1.2, error: 0.04, level } })).toContain(
      `Mean weight of 1,000 decisions ${word} 1.200 ± 0.040`,
    );
  });
});
