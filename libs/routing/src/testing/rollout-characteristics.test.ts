import {
  binary,
  characteristic,
  eProcess,
  graded,
  peekingZTest,
  windowedRule,
  type WatchedStage,
} from './rollout-characteristics.ts';

const STAGES: readonly WatchedStage[] = ['canary_1', 'canary_5', 'canary_25', 'full'];

describe('the monitor of a rollout, over simulated canaries', () => {
  it.each(STAGES)('rolls back at most 5 %% of healthy ones in %s', (stage) => {
    expect(characteristic(eProcess(stage), binary(0.9), { runs: 60 }).rolledBack).toBeLessThanOrEqual(0.05);
  });

  it('finds a fall of graded quality by .10 within 60 samples in at least 95 %', () => {
    expect(
      characteristic(eProcess('canary_1'), graded(0.8), { runs: 150, samples: 60 }).rolledBack,
    ).toBeGreaterThanOrEqual(0.95);
  });

  it('is what rules that do not count their looks are not: they roll back healthy ones by the dozen', () => {
    const healthy = { runs: 80 };
    expect(characteristic(peekingZTest, binary(0.9), healthy).rolledBack).toBeGreaterThan(0.2);
    expect(characteristic(windowedRule(0.03), binary(0.9), healthy).rolledBack).toBeGreaterThan(0.5);
  });
});
