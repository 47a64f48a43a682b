import { bestModel, operatingPoint, singleModels } from '../frontier/quality-table.ts';
import { reportFrontier } from '../frontier/report-frontier.ts';
import { chooseWeight, heldOut, learnOnline, predictQualities, type ChosenWeight } from './learned-policy.ts';
import { createRoutingSimulator } from './simulator.ts';

const SEED = 1;
const simulator = createRoutingSimulator(SEED);
const policy = learnOnline(simulator, 20_000, SEED);
const { features, table } = heldOut(simulator, 3_000);
const predicted = features.map((one) => predictQualities(policy, one));

describe('a policy that has learned from 20,000 of its own decisions, on requests it has not seen', () => {
  it('costs at least 55 % less than the best model alone at a quality at most .027 lower, at a weight that the log chose', () => {
    const chosen = chooseWeight(policy, 0.027) as ChosenWeight;
    const { saved, loss } = operatingPoint(predicted, table, bestModel(table), chosen.costWeight, chosen.referenceCost);
    expect(chosen.ess).toBeGreaterThan(200);
    expect(saved).toBeGreaterThanOrEqual(0.55);
    expect(loss).toBeLessThanOrEqual(0.027);
  });

  it('is worth at least as much as the best fixed model, whatever cost weighs, and in quality alone not .001 less', () => {
    const dearest = Math.max(...singleModels(table).map(({ cost }) => cost));
    for (const costWeight of [0, 0.02, 0.1, 0.3]) {
      const value = ({ quality, cost }: { quality: number; cost: number }): number =>
        quality - (costWeight * cost) / dearest;
      const fixed = Math.max(...singleModels(table).map(value));
      expect(value(operatingPoint(predicted, table, bestModel(table), costWeight, dearest))).toBeGreaterThanOrEqual(
        fixed - (costWeight === 0 ? 0.001 : 0),
      );
    }
  });

  it('lies above the hull of single models and below the oracle', () => {
    const { aiq, savedWithin } = reportFrontier(predicted, table, { loss: 0.027 });
    expect(aiq.router).toBeGreaterThan(aiq.hull + 0.01);
    expect(aiq.router).toBeLessThan(aiq.oracle);
    expect(savedWithin.router).toBeGreaterThan(savedWithin.hull);
  });
});
