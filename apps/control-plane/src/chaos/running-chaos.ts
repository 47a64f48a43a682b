import type { OperatorState } from '@sluice/contracts';

/** A failure that was started on purpose and goes on, as operators see it. */
export type RunningChaos = OperatorState['chaos'][number];
