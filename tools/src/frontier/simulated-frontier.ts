import { bestModel, operatingPoint, reportFrontier, type FrontierReport, type OperatingPoint } from '@sluice/routing';
import {
  chooseWeight,
  createRoutingSimulator,
  heldOut,
  learnOnline,
  predictQualities,
  type ChosenWeight,
} from '@sluice/routing/testing';
import { LOSS } from './frontier.ts';

const DECISIONS = 30_000;
const HELD_OUT = 5_000;

export interface SimulatedFrontier {
  readonly decisions: number;
  readonly seed: number;
  readonly weight: ChosenWeight;
  readonly test: FrontierReport;
  readonly chosen: OperatingPoint;
}

/**
 * A policy that learned from its own decisions on the simulator alone, at a weight of cost that its log chose, on
 * requests of which the exact quality is known.
 *
 * @throws Error when the log supports no weight at the accepted loss.
 */
export function simulatedFrontier(seed: number): SimulatedFrontier {
  const simulator = createRoutingSimulator(seed);
  const policy = learnOnline(simulator, DECISIONS, seed);
  const weight = chooseWeight(policy, LOSS);
  if (weight === undefined) throw new Error('the log supports no weight of cost at the accepted loss');
  const { features, table } = heldOut(simulator, HELD_OUT);
  const predicted = features.map((one) => predictQualities(policy, one));
  return {
    decisions: DECISIONS,
    seed,
    weight,
    test: reportFrontier(predicted, table, { loss: LOSS, referenceCost: weight.referenceCost }),
    chosen: operatingPoint(predicted, table, bestModel(table), weight.costWeight, weight.referenceCost),
  };
}
