import type { DecidedArmRecord } from '@sluice/contracts';

/**
 * What each arm's price is in a decision: its cost, or with a share of latency a blend of both as shares of the dearest
 * and the slowest eligible arm, so that a customer under pressure gets a faster one.
 */
export function priceArms(
  arms: readonly Pick<DecidedArmRecord, 'cost_nanousd' | 'latency_ms' | 'excluded'>[],
  latencyShare: number,
): number[] {
  if (latencyShare === 0) return arms.map(({ cost_nanousd }) => cost_nanousd);
  let dearest = 0;
  let slowest = 0;
  for (const { cost_nanousd, latency_ms = 0, excluded } of arms) {
    if (excluded !== undefined) continue;
    dearest = Math.max(dearest, cost_nanousd);
    slowest = Math.max(slowest, latency_ms);
  }
  return arms.map(
    ({ cost_nanousd, latency_ms = 0 }) =>
      (1 - latencyShare) * (dearest === 0 ? 0 : cost_nanousd / dearest) +
      latencyShare * (slowest === 0 ? 0 : latency_ms / slowest),
  );
}
