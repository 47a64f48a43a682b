import { adwinCut, PageHinkley } from './drift/page-hinkley.ts';
import { kolmogorovSmirnov, populationStability } from './drift/distribution-shift.ts';
import {
  areaUnderCurve,
  averageGapRecovered,
  averageQuality,
  callPerformanceThreshold,
  risingHull,
  routerArenaScore,
} from './frontier/metrics.ts';
import { inverse, type Matrix } from './linear/cholesky.ts';
import { DiscountedRidge } from './linear/discounted-ridge.ts';
import { RidgeArm } from './linear/ridge-arm.ts';
import { diagnose } from './ope/diagnostics.ts';
import { crossFit, fitArms, predictAll } from './ope/direct-model.ts';
import { estimate, estimatorTerms } from './ope/estimators.ts';
import { maurerPontil, snipsErrorByInfluence, snipsErrorByJackknife, standardError, Z95 } from './ope/intervals.ts';
import {
  epsilonGreedy,
  indexOfLargest,
  inverseGapWeights,
  powerGamma,
  sampleArm,
  theoryGamma,
  withFloor,
} from './policy/exploration.ts';
import { cheapestGoodEnough, costAdjusted, judge } from './policy/good-enough.ts';
import { thompsonProbabilities, thompsonTwoArms } from './policy/thompson.ts';
import { BettingTest } from './sequential/betting-test.ts';
import { ConfidenceSequence, normalMixtureTest, OffPolicyLowerBound } from './sequential/confidence-sequence.ts';
import { requestsNeeded, stageAfter, stageAfterReset, type RolloutStage } from './rollout/stages.ts';
import { DecayingMean, timeAwareAlpha } from './signals/decaying-mean.ts';
import { distance, readVectors } from './testing/vectors.ts';

const VECTORS = readVectors('libs/routing/vectors/router-vectors.json');
const TOLERANCE = 1e-9;

type Numbers = number[];
/** A block with the fields that a test reads of it. */
const block = <T>(name: string): T => VECTORS[name] as T;
const close = (actual: unknown, expected: unknown, tolerance = TOLERANCE): void =>
  expect(distance(actual, expected)).toBeLessThanOrEqual(tolerance);

/** Blocks that a test below has compared; at the end they must be all. */
const compared = new Set<string>(['_meta', 'linucb_ties_note', 'ope_formulas']);
const vector = (name: string, compare: () => void): void => {
  it(name, () => {
    compared.add(name);
    compare();
  });
};

describe('the reference numbers to 1e-9:', () => {
  vector('linucb_disjoint', () => {
    interface Step {
      x: Numbers;
      mean: Numbers;
      width: Numbers;
      ucb: Numbers;
      lcb: Numbers;
      chosen: number;
      reward: number;
      theta_chosen_after: Numbers;
      Ainv_chosen_after: Matrix;
    }
    const { d, K, alpha, lam, steps, final_theta, final_pulls } = block<{
      d: number;
      K: number;
      alpha: number;
      lam: number;
      steps: Step[];
      final_theta: Matrix;
      final_pulls: Numbers;
    }>('linucb_disjoint');
    const arms = Array.from({ length: K }, () => RidgeArm.untrained(d, lam));
    for (const step of steps) {
      const predictions = arms.map((arm) => arm.predict(step.x));
      close(
        predictions.map(({ mean }) => mean),
        step.mean,
      );
      close(
        predictions.map(({ width }) => width),
        step.width,
      );
      const judged = predictions.map((prediction) => judge(prediction, alpha, 0));
      close(
        judged.map(({ upper }) => upper),
        step.ucb,
      );
      close(
        judged.map(({ lower }) => lower),
        step.lcb,
      );
      expect(indexOfLargest(judged.map(({ upper }) => upper))).toBe(step.chosen);
      const arm = arms[step.chosen] as RidgeArm;
      arm.update(step.x, step.reward);
      close(arm.theta, step.theta_chosen_after);
      close(arm.aInverse, step.Ainv_chosen_after);
    }
    close(
      arms.map(({ theta }) => theta),
      final_theta,
    );
    expect(arms.map(({ pulls }) => pulls)).toEqual(final_pulls);
  });

  const started = (a: Matrix): RidgeArm =>
    RidgeArm.restore({ a, aInverse: inverse(a), b: [0, 0, 0], pulls: 0, sinceRefactor: 0 });
  vector('sherman_morrison', () => {
    const { A, Ainv, x, Ainv_after, logdet_gain } = block<{
      A: Matrix;
      Ainv: Matrix;
      x: Numbers;
      Ainv_after: Matrix;
      logdet_gain: number;
    }>('sherman_morrison');
    const arm = started(A);
    close(arm.aInverse, Ainv);
    close(arm.update(x, 0), logdet_gain);
    close(arm.aInverse, Ainv_after);
  });
  vector('sherman_morrison_weighted', () => {
    const { A, x } = block<{ A: Matrix; x: Numbers }>('sherman_morrison');
    const { w, Ainv_after } = block<{ w: number; Ainv_after: Matrix }>('sherman_morrison_weighted');
    const arm = started(A);
    arm.update(x, 0, w);
    close(arm.aInverse, Ainv_after);
  });
  vector('discounted_ridge', () => {
    interface Step {
      x: Numbers;
      reward: number;
      A: Matrix;
      b: Numbers;
      theta: Numbers;
    }
    const { gamma, lam, steps, effective_window } = block<{
      gamma: number;
      lam: number;
      steps: Step[];
      effective_window: number;
    }>('discounted_ridge');
    const ridge = new DiscountedRidge(2, lam, gamma);
    for (const step of steps) {
      ridge.update(step.x, step.reward);
      close(ridge.a, step.A);
      close(ridge.b, step.b);
      close(ridge.theta, step.theta);
    }
    close(ridge.effectiveWindow, effective_window);
  });
  vector('prior_warm_start', () => {
    const { theta0, n0, x, mean, width, after_one_obs } = block<{
      theta0: Numbers;
      n0: number;
      x: Numbers;
      mean: number;
      width: number;
      after_one_obs: { reward: number; theta: Numbers };
    }>('prior_warm_start');
    const arm = RidgeArm.withPrior(theta0, n0);
    close(arm.predict(x).mean, mean);
    close(arm.predict(x).width, width);
    arm.update(x, after_one_obs.reward);
    close(arm.theta, after_one_obs.theta);
  });

  const negated = (costs: Numbers): Numbers => costs.map((cost) => -cost);
  vector('squarecb', () => {
    const { cases, sampling } = block<{
      cases: { predicted_costs: Numbers; gamma: number; probs: Numbers }[];
      sampling: { probs: Numbers; u: Numbers; chosen: Numbers };
    }>('squarecb');
    for (const { predicted_costs, gamma, probs } of cases)
      close(inverseGapWeights(negated(predicted_costs), gamma), probs);
    expect(sampling.u.map((u) => sampleArm(sampling.probs, u))).toEqual(sampling.chosen);
  });
  vector('propensity_floor', () => {
    for (const { predicted_costs, gamma, floor, probs_before, probs_after } of block<{
      cases: { predicted_costs: Numbers; gamma: number; floor: number; probs_before: Numbers; probs_after: Numbers }[];
    }>('propensity_floor').cases) {
      const before = inverseGapWeights(negated(predicted_costs), gamma);
      close(before, probs_before);
      close(withFloor(before, floor), probs_after);
    }
  });
  vector('squarecb_gamma', () => {
    const { vw, theory_anytime } = block<{
      vw: { t: number; gamma: number }[];
      theory_anytime: { t: number; K: number; d: number; delta: number; c: number; gamma: number }[];
    }>('squarecb_gamma');
    for (const { t, gamma } of vw) close(powerGamma(t, 10), gamma);
    for (const { t, K, d, delta, c, gamma } of theory_anytime)
      close(theoryGamma({ t, arms: K, dimension: d, delta, c }), gamma);
  });
  vector('vw_elim_trap', () => {
    const { costs, gamma, correct } = block<{ costs: Numbers; gamma: number; correct: Numbers }>('vw_elim_trap');
    close(inverseGapWeights(negated(costs), gamma), correct);
  });
  vector('epsilon_greedy', () => {
    const { K, epsilon, best, probs } = block<{ K: number; epsilon: number; best: number; probs: Numbers }>(
      'epsilon_greedy',
    );
    close(epsilonGreedy(K, best, epsilon), probs);
  });
  vector('lints_two_arm', () => {
    const { mean, sd, p0 } = block<{ mean: [number, number]; sd: [number, number]; p0: number }>('lints_two_arm');
    close(thompsonTwoArms(mean, sd), p0);
  });
  vector('ts_three_arm_quadrature', () => {
    const { mean, sd, probs } = block<{ mean: Numbers; sd: Numbers; probs: Numbers }>('ts_three_arm_quadrature');
    close(thompsonProbabilities(mean, sd), probs, 1e-6);
  });
  vector('cheapest_good_enough', () => {
    const { alpha, tau, arms, chosen, tau_sweep } = block<{
      alpha: number;
      tau: number;
      arms: { model: string; cost: number; mean: number; width: number; lcb: number; good_enough: boolean }[];
      chosen: string;
      tau_sweep: { tau: number; chosen: string }[];
    }>('cheapest_good_enough');
    const choose = (threshold: number): string => {
      const judged = arms.map((arm) => judge(arm, alpha, threshold));
      const { arm, fallback } = cheapestGoodEnough(
        judged,
        arms.map(({ cost }) => cost),
      );
      return `${fallback ? 'FALLBACK:' : ''}${arms[arm]?.model}`;
    };
    for (const arm of arms) {
      close(judge(arm, alpha, tau).lower, arm.lcb);
      expect(judge(arm, alpha, tau).confidence === 'proven').toBe(arm.good_enough);
    }
    expect(choose(tau)).toBe(chosen);
    expect(tau_sweep.map((step) => choose(step.tau))).toEqual(tau_sweep.map((step) => step.chosen));
  });
  vector('cost_adjusted_reward', () => {
    for (const { q, cost, cref, lam, r } of block<{
      cases: { q: number; cost: number; cref: number; lam: number; r: number }[];
    }>('cost_adjusted_reward').cases)
      close(costAdjusted(q, cost, cref, lam), r);
  });

  interface Ope {
    X: Matrix;
    logging_probs: Matrix;
    actions: Numbers;
    rewards: Numbers;
    target_probs: Matrix;
    theta: Matrix;
    q_hat: Matrix;
    weights: Numbers;
    params: { ridge_lambda: number; clip_M: number; switch_tau: number; dros_lambda: number; delta: number };
    estimates: Record<string, number>;
    per_row: { ips: Numbers; dm: Numbers; dr: Numbers };
    diagnostics: Record<string, number>;
    intervals: {
      se_IPS: number;
      se_DR: number;
      se_SNIPS_influence: number;
      se_SNIPS_jackknife: number;
      normal95_DR: Numbers;
      maurer_pontil_halfwidth_IPS: number;
    };
  }
  for (const name of ['ope_benign', 'ope_stress']) {
    vector(name, () => {
      const { X, logging_probs, actions, rewards, target_probs, params, ...expected } = block<Ope>(name);
      const data = { contexts: X, loggedProbabilities: logging_probs, actions, rewards };
      const settings = { clipAt: params.clip_M, switchAt: params.switch_tau, shrinkage: params.dros_lambda };
      const theta = fitArms(
        data,
        3,
        params.ridge_lambda,
        actions.map((_, row) => row),
      );
      close(theta, expected.theta);
      const q = predictAll(theta, X);
      close(q, expected.q_hat);
      const terms = estimatorTerms(data, target_probs, q);
      close(terms.weights, expected.weights);
      close([terms.ips, terms.dm, terms.dr], [expected.per_row.ips, expected.per_row.dm, expected.per_row.dr]);
      const {
        IPS,
        IPS_clipped,
        SNIPS,
        DM,
        DR,
        SNDR,
        SwitchDR,
        SWITCH,
        DRos,
        DM_crossfit_even_odd,
        DR_crossfit_even_odd,
      } = expected.estimates;
      const {
        ips,
        ipsClipped,
        snips,
        dm,
        dr,
        sndr,
        switchDr,
        switch: switched,
        drOs,
      } = estimate(data, target_probs, q, settings);
      close(
        [ips, ipsClipped, snips, dm, dr, sndr, switchDr, switched, drOs],
        [IPS, IPS_clipped, SNIPS, DM, DR, SNDR, SwitchDR, SWITCH, DRos],
      );
      const crossed = estimate(
        data,
        target_probs,
        crossFit(data, 3, params.ridge_lambda, 2, (row) => row % 2),
        settings,
      );
      close([crossed.dm, crossed.dr], [DM_crossfit_even_odd, DR_crossfit_even_odd]);
      const { ess, essShare, meanWeight, maxWeight, maxPossibleWeight, minLoggedProbability } = diagnose(
        data,
        target_probs,
      );
      const { ESS, ESS_ratio, mean_weight, max_weight, max_possible_weight, min_logged_propensity } =
        expected.diagnostics;
      close(
        [ess, essShare, meanWeight, maxWeight, maxPossibleWeight, minLoggedProbability],
        [ESS, ESS_ratio, mean_weight, max_weight, max_possible_weight, min_logged_propensity],
      );
      const { intervals } = expected;
      close([standardError(terms.ips), standardError(terms.dr)], [intervals.se_IPS, intervals.se_DR]);
      close(snipsErrorByInfluence(terms.weights, rewards), intervals.se_SNIPS_influence);
      close(snipsErrorByJackknife(terms.weights, rewards), intervals.se_SNIPS_jackknife);
      close([dr - Z95 * standardError(terms.dr), dr + Z95 * standardError(terms.dr)], intervals.normal95_DR);
      close(maurerPontil(terms.ips, maxPossibleWeight, params.delta), intervals.maurer_pontil_halfwidth_IPS);
    });
  }

  vector('eb_confidence_sequence', () => {
    const { alpha, c, x, lower, upper } = block<{
      alpha: number;
      c: number;
      x: Numbers;
      lower: Numbers;
      upper: Numbers;
    }>('eb_confidence_sequence');
    const sequence = new ConfidenceSequence(alpha, c);
    const bounds = x.map((value) => (sequence.add(value), [sequence.lower, sequence.upper] as const));
    close(
      bounds.map(([low]) => low),
      lower,
    );
    close(
      bounds.map(([, high]) => high),
      upper,
    );
  });
  vector('betting_eprocess', () => {
    interface Case {
      x: Numbers;
      m0: number;
      side: 'less' | 'greater';
      N_star: number | null;
      alpha: number;
      E: Numbers;
      lambdas: Numbers;
      first_t_reject: number | null;
    }
    for (const { x, m0, side, N_star, alpha, E, lambdas, first_t_reject } of block<{ cases: Case[] }>(
      'betting_eprocess',
    ).cases) {
      const test = new BettingTest({ nullMean: m0, side, alpha, ...(N_star === null ? {} : { target: N_star }) });
      const steps = x.map(
        (value) => (test.add(value), { wealth: test.wealth, bet: test.lastBet, rejected: test.rejected }),
      );
      close(
        steps.map(({ wealth }) => wealth),
        E,
        1e-7,
      );
      close(
        steps.map(({ wealth }, i) => wealth / (E[i] as number)),
        E.map(() => 1),
      );
      close(
        steps.map(({ bet }) => bet),
        lambdas,
      );
      expect(steps.findIndex(({ rejected }) => rejected) + 1 || null).toBe(first_t_reject);
    }
  });
  vector('msprt_normal', () => {
    for (const { n, ybar, theta0, sigma2, tau2, Lambda, p } of block<{
      cases: { n: number; ybar: number; theta0: number; sigma2: number; tau2: number; Lambda: number; p: number }[];
    }>('msprt_normal').cases) {
      const result = normalMixtureTest({ n, mean: ybar, nullMean: theta0, variance: sigma2, mixingVariance: tau2 });
      close([result.ratio, result.p], [Lambda, p]);
    }
  });
  vector('ope_lower_cs_ipw', () => {
    const { alpha, N_star, V0, weights, rewards, lower_raw, lower } = block<{
      alpha: number;
      N_star: number;
      V0: number;
      weights: Numbers;
      rewards: Numbers;
      lower_raw: Numbers;
      lower: Numbers;
    }>('ope_lower_cs_ipw');
    const bound = new OffPolicyLowerBound({ alpha, target: N_star, initialVariance: V0 });
    const steps = weights.map(
      (weight, i) => (bound.add(weight, rewards[i] as number), [bound.raw, bound.lower] as const),
    );
    close(
      steps.map(([raw]) => raw),
      lower_raw,
    );
    close(
      steps.map(([, best]) => best),
      lower,
    );
  });
  vector('page_hinkley_decrease', () => {
    const { x, delta, threshold, min_n, stat, alarm_t } = block<{
      x: Numbers;
      delta: number;
      threshold: number;
      min_n: number;
      stat: Numbers;
      alarm_t: number;
    }>('page_hinkley_decrease');
    const detector = new PageHinkley({ delta, threshold, minimum: min_n });
    const steps = x.map((value) => ({ alarm: detector.add(value), statistic: detector.statistic }));
    close(
      steps.map(({ statistic }) => statistic),
      stat,
    );
    expect(steps.findIndex(({ alarm }) => alarm) + 1).toBe(alarm_t);
  });
  vector('adwin_cut', () => {
    for (const { n0, n1, var: variance, delta, eps } of block<{
      cases: { n0: number; n1: number; var: number; delta: number; eps: number }[];
    }>('adwin_cut').cases)
      close(adwinCut({ older: n0, newer: n1, variance, delta }), eps);
  });
  vector('psi', () => {
    for (const { expected, actual, psi } of block<{ cases: { expected: Numbers; actual: Numbers; psi: number }[] }>(
      'psi',
    ).cases)
      close(populationStability(expected, actual), psi);
  });
  vector('ks', () => {
    const { a, b, D, p_asymptotic } = block<{ a: Numbers; b: Numbers; D: number; p_asymptotic: number }>('ks');
    const { distance: d, p } = kolmogorovSmirnov(a, b);
    close([d, p], [D, p_asymptotic]);
  });
  vector('ewma', () => {
    const { cases, time_aware } = block<{
      cases: { alpha: number; x: Numbers; s: Numbers; bias_corrected_last: number }[];
      time_aware: { dt: number; tau: number; alpha: number }[];
    }>('ewma');
    for (const { alpha, x, s, bias_corrected_last } of cases) {
      const mean = new DecayingMean();
      close(
        x.map((value) => mean.add(value, alpha)),
        s,
      );
      if (bias_corrected_last !== undefined) close(mean.corrected, bias_corrected_last);
    }
    for (const { dt, tau, alpha } of time_aware) close(timeAwareAlpha(dt, tau), alpha);
  });
  vector('apgr_cpt', () => {
    const { strong_pct, accuracy, AUC, APGR, CPT50, CPT80 } = block<{
      strong_pct: Numbers;
      accuracy: Numbers;
      AUC: number;
      APGR: number;
      CPT50: number;
      CPT80: number;
    }>('apgr_cpt');
    const curve = { share: strong_pct.map((percent) => percent / 100), accuracy };
    close([areaUnderCurve(curve), averageGapRecovered(curve)], [AUC, APGR]);
    close(
      [0.5, 0.8].map((part) => (callPerformanceThreshold(curve, part) as number) * 100),
      [CPT50, CPT80],
    );
  });
  vector('routerarena_score', () => {
    for (const { cost_per_1k, accuracy, score } of block<{
      cases: { cost_per_1k: number; accuracy: number; score: number }[];
    }>('routerarena_score').cases)
      close(routerArenaScore(cost_per_1k, accuracy), score);
  });
  vector('aiq', () => {
    const { points, hull, AIQ } = block<{ points: [number, number][]; hull: Matrix; AIQ: number }>('aiq');
    const named = points.map(([cost, quality]) => ({ cost, quality }));
    close(
      risingHull(named).map(({ cost, quality }) => [cost, quality]),
      hull,
    );
    close(averageQuality(named), AIQ);
  });
  vector('rollout_state_machine', () => {
    interface Transition {
      state: RolloutStage;
      n: number;
      breach: boolean;
      promotable: boolean;
      actor: 'human' | 'system' | null;
      next: RolloutStage;
    }
    const { transitions, traffic_needed } = block<{
      transitions: Transition[];
      traffic_needed: { stage: RolloutStage; requests_for_2000: number; requests_for_200: number }[];
    }>('rollout_state_machine');
    for (const { state, n, breach, promotable, actor, next } of transitions) {
      expect([
        state,
        n,
        actor === null ? stageAfter(state, { samples: n, breach, promotable }) : stageAfterReset(state, actor),
      ]).toEqual([state, n, next]);
    }
    for (const { stage, requests_for_2000, requests_for_200 } of traffic_needed)
      expect([requestsNeeded(stage, 2_000), requestsNeeded(stage, 200)]).toEqual([requests_for_2000, requests_for_200]);
  });

  it('every block of the file has been compared', () => {
    expect(Object.keys(VECTORS).filter((name) => !compared.has(name))).toEqual([]);
  });
});
