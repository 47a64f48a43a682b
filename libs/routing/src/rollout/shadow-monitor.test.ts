import { createRandom } from '../testing/random.ts';
import { ShadowMonitor } from './shadow-monitor.ts';

const SETTINGS = { margin: 0.03, alphaPromote: 0.05, alphaBreach: 0.05 };

/** Two arms of these qualities, drawn evenly by the control; the candidate takes the second with this probability. */
function shadow(seed: number, second: number, share: number, rows = 2_500, unsupported = 0): ShadowMonitor {
  const random = createRandom(seed);
  const monitor = new ShadowMonitor(SETTINGS);
  for (let i = 0; i < rows && !monitor.breach && !monitor.promotable; i += 1) {
    const arm = random() < 0.5 ? 0 : 1;
    monitor.add({
      weight: (arm === 1 ? share : 1 - share) / 0.5,
      reward: random() < (arm === 1 ? second : 0.9) ? 1 : 0,
      unsupported,
    });
  }
  return monitor;
}
const count = (runs: number, of: (seed: number) => boolean): number =>
  Array.from({ length: runs }, (_, seed) => of(seed + 1)).filter(Boolean).length;

describe('the monitor of a shadow', () => {
  it('promotes a candidate that does nearly as the control after 2,000 rows, and not before', () => {
    expect(shadow(1, 0.9, 0.6, 1_999).promotable).toBe(false);
    expect(count(50, (seed) => shadow(seed, 0.9, 0.6).promotable)).toBeGreaterThanOrEqual(45);
  });

  it('finds a candidate that prefers a far worse model, and never promotes it', () => {
    const runs = Array.from({ length: 50 }, (_, seed) => shadow(seed + 1, 0.5, 0.9));
    expect(runs.filter((monitor) => monitor.breach).length).toBeGreaterThanOrEqual(45);
    expect(runs.filter((monitor) => monitor.promotable)).toEqual([]);
  });

  it('finds at most 5 % of harmless candidates bad', () => {
    expect(count(200, (seed) => shadow(seed, 0.9, 0.5).breach)).toBeLessThanOrEqual(10);
  });

  it('promotes nothing that wants what the log never had', () => {
    const monitor = shadow(2, 0.9, 0.6, 2_500, 0.01);
    expect([monitor.promotable, monitor.deficiency]).toEqual([false, expect.closeTo(0.01, 9)]);
  });

  it('goes on after a restart to the last bit', () => {
    const whole = shadow(3, 0.9, 0.7, 300);
    const restored = ShadowMonitor.restore(SETTINGS, JSON.parse(JSON.stringify(whole.state)));
    for (const monitor of [whole, restored]) monitor.add({ weight: 1.4, reward: 0.3, unsupported: 0 });
    expect(restored.state).toEqual(whole.state);
  });
});
