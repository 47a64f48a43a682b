/** How often and how soon a dead part is started again. */
export interface RestartPolicy {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A life shorter than this is a quick death. */
  readonly quickMs: number;
  /** Given up after this many quick deaths in a row. */
  readonly maxQuickDeaths: number;
}

export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 250,
  maxDelayMs: 10_000,
  quickMs: 10_000,
  maxQuickDeaths: 6,
};
/** While the stack boots, a part that cannot start should be reported soon. */
export const BOOT_POLICY: RestartPolicy = { ...RESTART_POLICY, maxQuickDeaths: 2 };

/** Delay before the next start after `quickDeaths` quick deaths in a row; undefined gives up. */
export function restartDelayMs(policy: RestartPolicy, quickDeaths: number): number | undefined {
  if (quickDeaths >= policy.maxQuickDeaths) return undefined;
  return Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** Math.max(0, quickDeaths - 1));
}
