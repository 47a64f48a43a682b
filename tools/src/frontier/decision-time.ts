import {
  createTextExtractor,
  decide,
  fitScale,
  fitTextScorer,
  RidgeArm,
  scorePrior,
  standardise,
} from '@sluice/routing';
import type { RoutingTable } from './routing-tables.ts';

/** Passes over the prompts before the one that is measured. */
const WARM_UP = 2;

export interface DecisionTime {
  readonly prompts: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** CPU time of this process for one decision, on average: a busy machine does not change it much. */
  readonly cpuUs: number;
}

/**
 * Time of a whole decision as it is served: text to features and scores, predictions with their widths, choice. One
 * prompt at a time, wall clock.
 */
export function decisionTime(table: RoutingTable, rows: readonly number[]): DecisionTime {
  const known = rows.filter((row) => table.prompts[row] !== undefined);
  const prompts = known.map((row) => table.prompts[row] as string);
  const extractor = createTextExtractor({
    kind: 'text+scores',
    scorer: fitTextScorer({
      models: table.models,
      prompts,
      qualities: known.map((row) => table.qualities[row] as number[]),
    }),
  });
  const scale = fitScale(prompts.map((prompt) => extractor.extract(prompt)));
  const arms = table.models.map((model) => RidgeArm.withPrior(scorePrior(extractor.names, scale, model), 20));
  const settings = { alpha: 0.5, threshold: 0, gamma: 400, floor: 0.005, costWeight: 0.1, rule: 'utility' } as const;
  const times: number[] = [];
  let before = process.cpuUsage();
  for (let pass = 0; pass <= WARM_UP; pass += 1) {
    if (pass === WARM_UP) before = process.cpuUsage();
    prompts.forEach((prompt, i) => {
      const startedAt = performance.now();
      const x = standardise(extractor.extract(prompt), scale);
      const decision = decide(
        table.models.map((model, k) => ({
          model,
          costNanoUsd: (table.costs[known[i] as number]?.[k] as number) * 1e9,
          prediction: (arms[k] as RidgeArm).predict(x),
        })),
        settings,
        0.5,
      );
      if (decision === undefined) throw new Error('nothing was decided');
      if (pass === WARM_UP) times.push((performance.now() - startedAt) * 1000);
    });
  }
  const used = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] as number;
  return {
    prompts: prompts.length,
    p50Us: at(0.5),
    p99Us: at(0.99),
    cpuUs: (used.user + used.system) / prompts.length,
  };
}
