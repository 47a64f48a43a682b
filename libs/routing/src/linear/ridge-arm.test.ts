import { createRandom, normalDraw } from '../testing/random.ts';
import { DiscountedRidge } from './discounted-ridge.ts';
import { RidgeArm } from './ridge-arm.ts';

const context = (random: () => number, dimension: number): number[] => [
  1,
  ...Array.from({ length: dimension - 1 }, () => Math.max(-3, Math.min(3, normalDraw(random)))),
];

describe('a ridge arm', () => {
  it('keeps its inverse exact over many updates with nearly collinear contexts', () => {
    const random = createRandom(1);
    const arm = RidgeArm.untrained(8, 1);
    for (let i = 0; i < 30_000; i += 1) {
      const x = context(random, 8);
      x[7] = (x[6] as number) + 1e-4 * normalDraw(random);
      arm.update(x, random());
    }
    expect(arm.residual).toBeLessThan(1e-6);
  });

  it('learns the coefficients that made the rewards', () => {
    const random = createRandom(2);
    const truth = [0.5, 0.2, -0.1, 0.05];
    const arm = RidgeArm.untrained(4, 1);
    for (let i = 0; i < 5_000; i += 1) {
      const x = context(random, 4);
      arm.update(x, x.reduce((sum, value, j) => sum + value * (truth[j] as number), 0) + 0.05 * normalDraw(random));
    }
    arm.theta.forEach((value, i) => expect(Math.abs(value - (truth[i] as number))).toBeLessThan(0.01));
    expect(arm.predict(truth).width).toBeLessThan(0.05);
  });

  it('follows a change when it forgets, keeps its estimate where nothing new is said, and stays exact', () => {
    const random = createRandom(11);
    const before = [0.8, 0.1, -0.1, 0.05];
    const value = (truth: readonly number[], x: readonly number[]): number =>
      x.reduce((sum, one, j) => sum + one * (truth[j] as number), 0);
    const [plain, forgetting] = [RidgeArm.withPrior([0.6, 0, 0, 0], 10), RidgeArm.withPrior([0.6, 0, 0, 0], 10)];
    for (let i = 0; i < 20_000; i += 1) {
      const x = context(random, 4);
      for (const arm of [plain, forgetting]) arm.update(x, value(before, x));
    }
    const [theta, width] = [[...forgetting.theta], forgetting.predict([1, 0, 0, 0]).width];
    forgetting.forget(0.5, 10);
    forgetting.theta.forEach((one, i) => expect(one).toBeCloseTo(theta[i] as number, 9));
    expect(forgetting.predict([1, 0, 0, 0]).width).toBeGreaterThan(1.3 * width);
    const after = before.map((one, i) => (i === 0 ? one - 0.4 : one));
    for (let i = 0; i < 1_000; i += 1) {
      const x = context(random, 4);
      plain.update(x, value(after, x));
      forgetting.forget(0.99, 10);
      forgetting.update(x, value(after, x));
    }
    expect(Math.abs((forgetting.theta[0] as number) - 0.4)).toBeLessThan(0.01);
    expect(Math.abs((plain.theta[0] as number) - 0.4)).toBeGreaterThan(0.1);
    expect(forgetting.residual).toBeLessThan(1e-9);
    for (const [keep, penalty] of [
      [0, 1],
      [1, 1],
      [Number.NaN, 1],
      [0.9, 0],
    ] as const)
      expect(() => forgetting.forget(keep, penalty)).toThrow('must lie between 0 and 1');
  });

  it('comes back from its saved state to the last bit, and goes on alike', () => {
    const random = createRandom(3);
    const arm = RidgeArm.untrained(5, 1);
    const updates = Array.from({ length: 500 }, () => [context(random, 5), random()] as const);
    for (const [x, reward] of updates.slice(0, 300)) arm.update(x, reward);
    const again = RidgeArm.restore(JSON.parse(JSON.stringify(arm.state)) as typeof arm.state);
    for (const [x, reward] of updates.slice(300)) {
      arm.update(x, reward);
      again.update(x, reward);
    }
    expect(again.state).toEqual(arm.state);
    expect(again.theta).toEqual(arm.theta);
  });

  it.each([
    ['not a number', [1, Number.NaN], 0.5, /finite/],
    ['an infinite reward', [1, 0], Infinity, /finite/],
    ['another dimension', [1], 0.5, /1 features, the arm has 2/],
  ])('refuses an observation that is %s and stays as it was', (_what, x, reward, message) => {
    const arm = RidgeArm.untrained(2, 1);
    expect(() => arm.update(x, reward)).toThrow(message);
    expect(arm.pulls).toBe(0);
    expect(arm.theta).toEqual([0, 0]);
  });
});

describe('a ridge that forgets', () => {
  it('follows a change and does not wind up in a direction that no longer comes', () => {
    const ridge = new DiscountedRidge(2, 1, 0.99);
    for (let i = 0; i < 2_000; i += 1) ridge.update([1, i % 2], 0.9);
    for (let i = 0; i < 100_000; i += 1) ridge.update([1, 0], 0.4);
    expect(ridge.predict([1, 0]).mean).toBeCloseTo(0.4, 2);
    expect(ridge.predict([0, 1]).width).toBeLessThanOrEqual(1.01);
  });
});
