import { crossFit } from '../ope/direct-model.ts';
import { diagnose, refusals } from '../ope/diagnostics.ts';
import { estimatorTerms } from '../ope/estimators.ts';
import { standardError, Z95 } from '../ope/intervals.ts';
import type { LoggedData } from '../ope/logged-data.ts';
import { chooseByUtility, meanDearestCost, type QualityTable } from '../frontier/quality-table.ts';
import { RidgeArm } from '../linear/ridge-arm.ts';
import { decide } from '../policy/decide.ts';
import { powerGamma } from '../policy/exploration.ts';
import { createRandom } from './random.ts';
import type { RoutingSimulator } from './simulator.ts';

/** Decisions between two snapshots: a decision sees none of the rewards of its own batch. */
const BATCH = 200;
/** Weights of cost among which the log itself is asked to choose. */
const WEIGHTS = [0, ...Array.from({ length: 16 }, (_, i) => 0.04 + i / 100), 0.22, 0.25, 0.3, 0.35];
const FOLDS = 5;

export interface LearnedPolicy {
  readonly arms: readonly RidgeArm[];
  readonly log: LoggedData;
  readonly costs: readonly (readonly number[])[];
}

const contextOf = (features: readonly number[]): number[] => [
  1,
  ...features.map((value) => Math.max(-3, Math.min(3, value))),
];

/**
 * Lets a policy learn from its own decisions alone, in batches, as the served one does: only the chosen model's
 * reward is seen.
 */
export function learnOnline(simulator: RoutingSimulator, decisions: number, seed: number): LearnedPolicy {
  const random = createRandom(seed);
  const arms = simulator.models.map(() => RidgeArm.untrained(17, 1));
  const log = {
    contexts: [] as number[][],
    loggedProbabilities: [] as number[][],
    actions: [] as number[],
    rewards: [] as number[],
  };
  const costs: (readonly number[])[] = [];
  let pending: [number, number[], number][] = [];
  for (let t = 0; t < decisions; t += 1) {
    const request = simulator.next();
    const x = contextOf(request.features);
    const gamma = powerGamma(Math.floor(t / BATCH) * BATCH);
    const candidates = simulator.models.map((model, k) => ({
      model,
      costNanoUsd: request.costs[k] as number,
      prediction: (arms[k] as RidgeArm).predict(x),
    }));
    const decision = decide(
      candidates,
      { alpha: 1, threshold: 0, gamma, floor: 0.01, costWeight: 0.1, rule: 'utility' },
      random(),
    );
    const action = simulator.models.indexOf(decision?.model as string);
    const reward = simulator.reward(request, action);
    log.contexts.push(x.slice(1));
    log.loggedProbabilities.push((decision?.arms ?? []).map(({ probability }) => probability));
    log.actions.push(action);
    log.rewards.push(reward);
    costs.push(request.costs);
    pending.push([action, x, reward]);
    if (pending.length === BATCH) {
      for (const [arm, context, value] of pending) (arms[arm] as RidgeArm).update(context, value);
      pending = [];
    }
  }
  return { arms, log, costs };
}

/** Predicted quality of every model for features of a request. */
export function predictQualities({ arms }: LearnedPolicy, features: readonly number[]): number[] {
  const x = contextOf(features);
  return arms.map((arm) => arm.predict(x).mean);
}

/** New requests with their exact qualities: what a policy is judged by, never what it learns from. */
export function heldOut(
  simulator: RoutingSimulator,
  count: number,
): { readonly features: (readonly number[])[]; readonly table: QualityTable } {
  const requests = Array.from({ length: count }, () => simulator.next());
  return {
    features: requests.map(({ features }) => features),
    table: {
      models: simulator.models,
      qualities: requests.map(({ means }) => means),
      costs: requests.map(({ costs }) => costs),
    },
  };
}

export interface ChosenWeight {
  readonly costWeight: number;
  /** What the weight weighs: mean cost of the dearest model in the log. */
  readonly referenceCost: number;
  /** Value against the best fixed model by DR on the same rows, and its lower 95 % bound. */
  readonly difference: number;
  readonly lower: number;
  /** Effective rows and all rows of the log. */
  readonly ess: number;
  readonly rows: number;
}

/**
 * The largest weight of cost whose policy surely (lower 95 % bound of the doubly robust difference, from the log
 * alone, row by row) loses at most `loss` against the best policy that always takes one model. Weights for which
 * the log says too little are passed over.
 */
export function chooseWeight(policy: LearnedPolicy, loss: number): ChosenWeight | undefined {
  const { log, costs } = policy;
  const arms = policy.arms.map((_, k) => k);
  const predicted = log.contexts.map((features) => predictQualities(policy, features));
  const table: QualityTable = { models: arms.map(String), qualities: predicted, costs };
  const q = crossFit(log, arms.length, 1, FOLDS, (row) => row % FOLDS);
  const target = (choices: readonly number[]): number[][] =>
    choices.map((choice) => arms.map((k) => (k === choice ? 1 : 0)));
  const terms = (wanted: readonly (readonly number[])[]): readonly number[] => estimatorTerms(log, wanted, q).dr;
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const fixed = arms.map((k) => terms(target(log.actions.map(() => k))));
  const bestFixed = fixed.reduce((best, one) => (mean(one) > mean(best) ? one : best));
  const reference = meanDearestCost(table);
  let chosen: ChosenWeight | undefined;
  for (const costWeight of WEIGHTS) {
    const wanted = target(chooseByUtility(predicted, table, costWeight, reference));
    const diagnostics = diagnose(log, wanted);
    if (refusals(diagnostics).length > 0) continue;
    const gaps = terms(wanted).map((value, row) => value - (bestFixed[row] as number));
    const difference = mean(gaps);
    const lower = difference - Z95 * standardError(gaps);
    if (lower >= -loss)
      chosen = {
        costWeight,
        referenceCost: reference,
        difference,
        lower,
        ess: diagnostics.ess,
        rows: log.actions.length,
      };
  }
  return chosen;
}
