import { estimators, propensities, refusals, rollouts, updates } from '../router-statistics/router-statistics.ts';
import type { DeepCheck } from './deep-check.ts';

/** The long forms of what libs/routing's tests show in short. */
export const routerStatisticsCheck: DeepCheck = {
  name: 'The router statistics hold: draws as logged, estimates near the truth, few healthy rollouts rolled back, a million updates exact',
  run: async ({ env }) => {
    const parts = [
      () => propensities(1_000_000, 50_000),
      () => estimators(20_000),
      () => refusals(env['SLUICE_ROUTER_DATA']),
      () => rollouts(2_000, 500),
      () => updates(1_000_000),
    ];
    const faults: string[] = [];
    let count = 0;
    for (const part of parts) {
      const { lines, faults: found } = part();
      for (const line of lines) console.log(`     ${line}`);
      count += lines.length;
      faults.push(...found);
    }
    if (faults.length > 0) throw new Error(faults.join('; '));
    return `${count} lines above`;
  },
};
