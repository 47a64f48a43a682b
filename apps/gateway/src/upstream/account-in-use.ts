import type { AccountUse } from '@sluice/resilience';
import type { CredentialCapacity } from './capacity.ts';

/** The account that an attempt or a probe uses, and whose request it is. */
export interface AccountInUse {
  /** For logs and alerts. */
  readonly requestId: string;
  readonly capacity: CredentialCapacity;
  /** Leave for this tenant and model. */
  readonly use: AccountUse;
}
