import type { MaybePromise, Refusal } from '@sluice/contracts';
import type { Call } from './call.ts';

/** Names of the stages, in the order of the design. */
export const STAGE_NAMES = [
  'authenticate',
  'place',
  'read_body',
  'resolve',
  'idempotency',
  'cache',
  'admit',
  'route',
  'attempt',
  'relay',
  'settle',
] as const;
export type StageName = (typeof STAGE_NAMES)[number];

/**
 * One step of the request path. A refusal is a value and ends the way to `settle`; throwing means that machinery
 * broke.
 */
export interface Stage {
  readonly name: StageName;
  run(call: Call): MaybePromise<Refusal | undefined>;
}
