import type { LimitsView } from '@sluice/contracts';

/** Share of the money quota nearest to its end that is used or reserved, in [0, 1]; 0 without a money quota. */
export function budgetUsed(view: LimitsView | undefined): number {
  let share = 0;
  if (view === undefined) return share;
  for (const { meter, used, limit } of view.quotas) {
    if (meter === 'cost_nanousd') share = Math.max(share, limit <= 0 ? 1 : used / limit);
  }
  return Math.min(1, share);
}
