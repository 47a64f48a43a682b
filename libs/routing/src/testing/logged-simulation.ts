import { powerGamma, inverseGapWeights, sampleArm, withFloor } from '../policy/exploration.ts';
import type { LoggedData } from '../ope/logged-data.ts';
import { createRandom } from './random.ts';
import type { RoutingSimulator, SimulatedRequest } from './simulator.ts';

const FLOOR = 0.01;
/** What the dearest model's cost is worth in quality, to the logging and the evaluated policy. */
const COST_WEIGHT = 0.2;

export interface SimulatedLog {
  readonly data: LoggedData;
  /** What the evaluated policy would have done. */
  readonly target: readonly (readonly number[])[];
  /** Its exact value on these requests. */
  readonly truth: number;
}

function distribution({ means, costs }: SimulatedRequest, gamma: number): number[] {
  const dearest = Math.max(...costs);
  return withFloor(
    inverseGapWeights(
      means.map((mean, k) => mean - (COST_WEIGHT * (costs[k] as number)) / dearest),
      gamma,
    ),
    FLOOR,
  );
}

/**
 * A log of a policy that explores by inverse-gap weighting, and a later one (4 times the exploitation) to be judged
 * by it, with graded Beta rewards.
 */
export function simulateLog(simulator: RoutingSimulator, rows: number, seed: number): SimulatedLog {
  const random = createRandom(seed);
  const data = {
    contexts: [] as (readonly number[])[],
    loggedProbabilities: [] as number[][],
    actions: [] as number[],
    rewards: [] as number[],
  };
  const target: number[][] = [];
  let truth = 0;
  const gamma = powerGamma(50);
  for (let i = 0; i < rows; i += 1) {
    const request = simulator.next();
    const logged = distribution(request, gamma);
    const wanted = distribution(request, 4 * gamma);
    const action = sampleArm(logged, random());
    data.contexts.push(request.features);
    data.loggedProbabilities.push(logged);
    data.actions.push(action);
    data.rewards.push(simulator.reward(request, action));
    target.push(wanted);
    truth += wanted.reduce((sum, p, arm) => sum + p * (request.means[arm] as number), 0) / rows;
  }
  return { data, target, truth };
}
