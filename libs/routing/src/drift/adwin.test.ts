import { createRandom } from '../testing/random.ts';
import { Adwin } from './adwin.ts';

const noise = (seed: number): (() => number) => {
  const random = createRandom(seed);
  return () => 0.2 * (random() - 0.5);
};

describe('the adaptive window', () => {
  it('grows while the mean is the same, and seldom cuts then', () => {
    let cuts = 0;
    for (let seed = 1; seed <= 10; seed += 1) {
      const next = noise(seed);
      const adwin = new Adwin();
      for (let i = 0; i < 5_000; i += 1) if (adwin.add(next())) cuts += 1;
      expect(adwin.window.n).toBeGreaterThan(1_000);
    }
    expect(cuts).toBeLessThanOrEqual(2);
  });

  it.each([
    ['falls', -0.1],
    ['rises', 0.1],
  ])('cuts soon after the mean %s, and keeps what came after', (_what, shift) => {
    const next = noise(7);
    const adwin = new Adwin();
    for (let i = 0; i < 2_000; i += 1) adwin.add(next());
    let found = 0;
    for (let i = 1; i <= 400; i += 1) if (adwin.add(next() + shift) && found === 0) found = i;
    expect(found).toBeGreaterThan(0);
    expect(found).toBeLessThanOrEqual(160);
    expect(adwin.window.n).toBeLessThan(700);
    expect(adwin.window.mean).toBeCloseTo(shift, 1);
  });

  it('knows number and mean of all values that it kept, in few buckets', () => {
    const adwin = new Adwin({ delta: 1e-12, every: 32, buckets: 5 });
    const next = noise(3);
    let sum = 0;
    for (let i = 0; i < 10_000; i += 1) {
      const x = next();
      sum += x;
      adwin.add(x);
    }
    expect(adwin.window).toEqual({ n: 10_000, mean: expect.closeTo(sum / 10_000, 12) });
    expect(adwin.state.rows.flat().length).toBeLessThan(80);
  });

  it('goes on after a restart as if there had been none', () => {
    const [kept, next] = [new Adwin(), noise(9)];
    for (let i = 0; i < 1_000; i += 1) kept.add(next());
    const restored = Adwin.restore(JSON.parse(JSON.stringify(kept.state)));
    for (let i = 0; i < 500; i += 1) {
      const x = next() - 0.1;
      expect(restored.add(x)).toBe(kept.add(x));
    }
    expect(restored.state).toEqual(kept.state);
  });

  it('refuses what is no number', () => {
    expect(() => new Adwin().add(Number.NaN)).toThrow('NaN');
  });
});
