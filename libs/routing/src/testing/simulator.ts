import { betaDraw, createRandom, normalDraw } from './random.ts';

/** A model of the simulated market. */
interface SimulatedModel {
  readonly name: string;
  /** Price relative to the cheapest. */
  readonly price: number;
  /** Difficulty at which its quality has fallen half way. */
  readonly skill: number;
  /** What it gains or loses with the topic, which is a direction of the features. */
  readonly bent: number;
}

/**
 * Prices as of a provider's family of models; skills rise with them, but the third is a specialist. No single
 * model but the dearest is within .027 of it, so whoever saves must route.
 */
const MODELS: readonly SimulatedModel[] = [
  { name: 'nano', price: 1, skill: 0.1, bent: -0.1 },
  { name: 'mini', price: 4, skill: 1.2, bent: 0.1 },
  { name: 'coder', price: 7, skill: 0.9, bent: 1.1 },
  { name: 'pro', price: 25, skill: 2, bent: 0 },
  { name: 'max', price: 60, skill: 2.5, bent: 0.2 },
];
const FEATURES = 16;
const LOWEST = 0.15;
const HIGHEST = 0.96;
/** Standard deviation of a graded reward. */
const REWARD_SD = 0.1;

export interface SimulatedRequest {
  readonly features: readonly number[];
  /** Exact expected quality of each model. */
  readonly means: readonly number[];
  /** Cost of each model, nanodollars. */
  readonly costs: readonly number[];
}

export interface RoutingSimulator {
  readonly models: readonly string[];
  next(): SimulatedRequest;
  /** A graded reward with exactly that mean: Beta, never clipped noise, which would shift the truth. */
  reward(request: SimulatedRequest, arm: number): number;
}

/**
 * Requests whose truth is known exactly. Quality is a logistic function of a difficulty and a topic, both hidden behind
 * sixteen correlated features of which most carry no signal; no linear model can be exact.
 */
export function createRoutingSimulator(seed: number): RoutingSimulator {
  const random = createRandom(seed);
  return {
    models: MODELS.map(({ name }) => name),
    next() {
      const difficulty = normalDraw(random);
      const topic = normalDraw(random);
      const features = Array.from(
        { length: FEATURES },
        (_, i) => (i < 4 ? 0.8 * difficulty : i < 7 ? 0.8 * topic : 0) + (i < 7 ? 0.4 : 1) * normalDraw(random),
      );
      const tokens = Math.exp(6 + 0.5 * normalDraw(random) + 0.3 * difficulty);
      const means = MODELS.map(
        ({ skill, bent }) => LOWEST + (HIGHEST - LOWEST) / (1 + Math.exp(-2 * (skill + bent * topic - difficulty))),
      );
      return { features, means, costs: MODELS.map(({ price }) => Math.round(100 * price * tokens)) };
    },
    reward: ({ means }, arm) => betaDraw(random, means[arm] as number, REWARD_SD),
  };
}
