import type { CallSettled } from '@sluice/contracts';
import type { CallFigures } from '../call.ts';

/** How a call ended, for those who count. */
export interface CallEnd {
  readonly outcome: CallSettled['outcome'];
  readonly status: number;
  readonly figures: CallFigures | undefined;
  readonly totalMs: number;
}
