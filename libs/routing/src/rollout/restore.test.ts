import { ConfidenceSequence } from '../sequential/confidence-sequence.ts';
import { PageHinkley } from '../drift/page-hinkley.ts';
import { createRandom } from '../testing/random.ts';
import { DEFAULT_ROLLOUT, RolloutMonitor } from './rollout-monitor.ts';

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

it('a rollout monitor, a confidence sequence and a drift detector go on after a restart to the last bit', () => {
  const random = createRandom(11);
  const settings = { ...DEFAULT_ROLLOUT, policyVersion: 'v2', baseline: 0.9 };
  const options = { delta: 0.05, threshold: 20, minimum: 30 };
  let monitor = new RolloutMonitor(settings, 'canary_5');
  let bounds = new ConfidenceSequence(0.05);
  let drift = new PageHinkley(options);
  const whole = {
    monitor: new RolloutMonitor(settings, 'canary_5'),
    bounds: new ConfidenceSequence(0.05),
    drift: new PageHinkley(options),
  };
  for (let i = 0; i < 200; i += 1) {
    const x = random();
    monitor = RolloutMonitor.restore(settings, json(monitor.saved));
    bounds = ConfidenceSequence.restore(0.05, json(bounds.state));
    drift = PageHinkley.restore(options, json(drift.state));
    const quality = 0.8 + 0.2 * x;
    for (const one of [monitor, whole.monitor]) one.add({ decisionId: `d${i}`, policyVersion: 'v2', quality });
    for (const one of [bounds, whole.bounds]) one.add(x);
    for (const one of [drift, whole.drift]) one.add(x);
  }
  expect([monitor.saved, bounds.state, drift.state]).toEqual([
    whole.monitor.saved,
    whole.bounds.state,
    whole.drift.state,
  ]);
  expect(monitor.state.samples).toBe(200);
});
