import { createRandom } from '../testing/random.ts';
import { DEFAULT_ROLLOUT, RolloutMonitor, type RolloutSample } from './rollout-monitor.ts';
import type { RolloutStage } from './stages.ts';

const SETTINGS = { ...DEFAULT_ROLLOUT, policyVersion: 'v2', baseline: 0.9 };
const RUNS = 400;

/** Runs one canary stage of at most 2,000 binary samples with this true quality. */
function canary(seed: number, quality: number, samples = 2_000): { stage: RolloutStage; after: number } {
  const random = createRandom(seed);
  const monitor = new RolloutMonitor(SETTINGS, 'canary_1');
  for (let i = 1; i <= samples; i += 1) {
    const stage = monitor.add({ decisionId: `d${i}`, policyVersion: 'v2', quality: random() < quality ? 1 : 0 });
    if (stage !== 'canary_1') return { stage, after: i };
  }
  return { stage: 'canary_1', after: samples };
}

const share = (quality: number, end: RolloutStage, samples?: number): number => {
  let count = 0;
  for (let seed = 1; seed <= RUNS; seed += 1) if (canary(seed, quality, samples).stage === end) count += 1;
  return count / RUNS;
};

describe('the monitor of a rollout', () => {
  it('rolls back at most 5 % of healthy canaries, and promotes nearly all of them', () => {
    expect(share(0.9, 'rolled_back')).toBeLessThanOrEqual(0.05);
    expect(share(0.9, 'canary_5')).toBeGreaterThanOrEqual(0.93);
  });

  it('finds a fall from .90 to .75 within 200 samples in at least 95 % of canaries', () => {
    expect(share(0.75, 'rolled_back', 200)).toBeGreaterThanOrEqual(0.95);
  });

  it('promotes at most 5 % of canaries that are just too bad', () => {
    expect(share(0.87, 'canary_5')).toBeLessThanOrEqual(0.05);
  });

  const sample = (more: Partial<RolloutSample> = {}): RolloutSample => ({
    decisionId: 'd1',
    policyVersion: 'v2',
    quality: 1,
    ...more,
  });

  it('counts no sample twice, none of another policy, and none without a reward', () => {
    const monitor = new RolloutMonitor(SETTINGS);
    for (const given of [
      sample(),
      sample(),
      sample({ decisionId: 'd2', policyVersion: 'v1' }),
      sample({ decisionId: 'd3', quality: undefined }),
    ])
      monitor.add(given);
    expect(monitor.state.samples).toBe(1);
    monitor.add(sample({ decisionId: 'd3', quality: 0 }));
    expect(monitor.state.samples).toBe(2);
  });

  it('starts its evidence anew in each stage, watches a full rollout on, and stays rolled back', () => {
    const monitor = new RolloutMonitor(SETTINGS, 'canary_25');
    for (let i = 0; i < 2_000; i += 1) monitor.add(sample({ decisionId: `a${i}` }));
    expect(monitor.state).toMatchObject({ stage: 'full', samples: 0, logBreach: 0, logPromote: 0 });
    for (let i = 0; i < 200; i += 1) monitor.add(sample({ decisionId: `b${i}`, quality: 0.3 }));
    expect(monitor.state.stage).toBe('rolled_back');
    expect(monitor.add(sample({ decisionId: 'c' }))).toBe('rolled_back');
  });

  it('rolls back at once on a hard fault', () => {
    const monitor = new RolloutMonitor(SETTINGS, 'canary_5');
    expect(monitor.breach()).toBe('rolled_back');
  });
});
