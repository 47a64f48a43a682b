import type { ExplainedArm, RouteAnswer, RouteDecision } from '@sluice/contracts';
import { baseArm, judge, utilityOf } from '../policy/good-enough.ts';
import { priceArms } from './price-arms.ts';

export type DecidedBy = NonNullable<RouteAnswer['decided_by']>;

export interface Explanation {
  /** One sentence. */
  readonly reason: string;
  readonly decidedBy: DecidedBy;
}

const two = (value: number): string => value.toFixed(2);
const WITHOUT_DRAW = {
  pin: 'the caller named it',
  rule: 'a rule of the workspace names it',
  single_candidate: 'no other candidate may be chosen',
  single_open: 'no other candidate could be good enough',
  no_snapshot: 'no policy was at hand, so the default model answers',
} as const;

/** Why a logged decision is what it is, from its record alone. */
export function explainDecision(record: RouteDecision): Explanation {
  const { chosen, base, deterministic, threshold } = record;
  if (deterministic !== undefined && deterministic !== 'single_open')
    return { reason: `${chosen}: ${WITHOUT_DRAW[deterministic]}.`, decidedBy: 'only_candidate' };
  const why = reasonOfBase(record);
  if (chosen !== base) {
    return {
      reason: `${chosen} was drawn with probability ${record.propensity.toFixed(4)} to learn more of it; otherwise ${base} would answer: ${why.reason}.`,
      decidedBy: 'exploration',
    };
  }
  const moved = [
    threshold.difficulty > 0 ? `raised by ${two(threshold.difficulty)} for hard traffic` : '',
    threshold.pressure < 0 ? `lowered by ${two(-threshold.pressure)} under pressure` : '',
    threshold.budget < 0 ? `lowered by ${two(-threshold.budget)} near the end of the budget` : '',
  ].filter((text) => text !== '');
  const only = deterministic === 'single_open' ? `, and ${WITHOUT_DRAW.single_open}` : '';
  return {
    reason: `${base}: ${why.reason}${only}${moved.length === 0 ? '' : ` (asked ${two(threshold.base)}, ${moved.join(', ')})`}.`,
    decidedBy: why.decidedBy,
  };
}

function reasonOfBase(record: RouteDecision): Explanation {
  const { threshold, base, latency_share: latencyShare } = record;
  const asked = two(threshold.value);
  const eligible = record.arms.filter(({ excluded }) => excluded === undefined);
  if (record.fallback)
    return { reason: `no model is proven to reach ${asked}, and it has the best prediction`, decidedBy: 'fallback' };
  const judged = judgedArms(record, threshold.value);
  const proven = judged.filter(({ confidence }) => confidence === 'proven').length;
  const own = judged[eligible.findIndex(({ model }) => model === base)];
  const least = own === undefined ? '' : `at least ${two(own.lower)} with confidence, ${asked} asked`;
  const quickest = latencyShare > 0 ? 'cheapest and fastest' : 'cheapest';
  const reason =
    record.rule === 'utility'
      ? `it has the best quality for its cost among the models that can be good enough (${asked} asked)`
      : proven === 1
        ? `it is the only model proven good enough (${least})`
        : `it is the ${quickest} of ${proven} models proven good enough (${least})`;
  if (threshold.budget < 0 && baseAt(record, threshold.value - threshold.budget, latencyShare) !== base)
    return { reason, decidedBy: 'budget' };
  if ((threshold.pressure < 0 || latencyShare > 0) && baseAt(record, threshold.value - threshold.pressure, 0) !== base)
    return { reason, decidedBy: 'pressure' };
  const cost = eligible.find(({ model }) => model === base)?.cost_nanousd ?? 0;
  return { reason, decidedBy: eligible.some(({ cost_nanousd }) => cost_nanousd < cost) ? 'quality' : 'cost' };
}

function baseAt(record: RouteDecision, threshold: number, latencyShare: number): string | undefined {
  const eligible = record.arms.filter(({ excluded }) => excluded === undefined);
  const prices = priceArms(eligible, latencyShare);
  const weigh = { costWeight: record.cost_weight, referenceCost: record.reference_cost, dearest: Math.max(...prices) };
  const utilities = eligible.map(({ mean = 0 }, i) => utilityOf(mean, prices[i] as number, weigh));
  return eligible[baseArm(record.rule, judgedArms(record, threshold), prices, utilities).arm]?.model;
}

const judgedArms = (record: RouteDecision, threshold: number) =>
  record.arms
    .filter(({ excluded }) => excluded === undefined)
    .map(({ mean = 0, width = 0 }) => judge({ mean, width }, record.alpha, threshold));

/** Every arm of a logged decision with its bounds, class and utility. */
export function explainArms(record: RouteDecision): ExplainedArm[] {
  const prices = priceArms(record.arms, record.latency_share);
  const dearest = Math.max(0, ...prices.filter((_, i) => record.arms[i]?.excluded === undefined));
  const weigh = { costWeight: record.cost_weight, referenceCost: record.reference_cost, dearest };
  return record.arms.map(({ model, cost_nanousd, latency_ms, mean, width, score, probability, excluded }, i) => {
    const latency = latency_ms === undefined ? {} : { latency_ms };
    const out = excluded === undefined ? {} : { excluded_reason: excluded };
    if (mean === undefined || width === undefined)
      return {
        model,
        cost_nanousd,
        ...latency,
        probability,
        class: excluded === undefined ? 'possible' : 'excluded',
        ...out,
      };
    const { lower, upper, confidence } = judge({ mean, width }, record.alpha, record.threshold.value);
    const utility = utilityOf(mean, prices[i] as number, weigh);
    return {
      model,
      q_mean: mean,
      q_width: width,
      q_lcb: lower,
      q_ucb: upper,
      ...(score === undefined ? {} : { q_score: score }),
      cost_nanousd,
      ...latency,
      utility,
      probability,
      class: excluded === undefined ? confidence : 'excluded',
      ...out,
    };
  });
}
