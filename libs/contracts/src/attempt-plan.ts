import type { Credential, Price, Provider } from './catalogue.ts';
import type { Deadlines, FailoverTrigger, Priority, Retries } from './policy.ts';

/** One place that may be tried. */
export interface PlannedAttempt {
  readonly provider: Provider;
  /** Catalogue id of the model that answers there. */
  readonly model: string;
  readonly providerModel: string;
  /** Credentials that may be used, in no order; the one with most free capacity by weight is taken. */
  readonly credentials: readonly Credential[];
  /** What the provider charges; undefined when unknown. */
  readonly price: Price | undefined;
  readonly triggerOn: readonly FailoverTrigger[];
}

/**
 * The ordered plan of one call. The loop tries `entries[0]` with retries, then goes on where a fault's trigger allows,
 * until content has reached the client or `retries.maxAttempts` calls were made.
 */
export interface AttemptPlan {
  readonly entries: readonly [PlannedAttempt, ...PlannedAttempt[]];
  /** Who decided. */
  readonly source: 'static' | 'pinned' | 'feature' | 'downgrade' | 'learned';
  /** Id of the router's decision, or undefined when no policy was asked. */
  readonly decisionId: string | undefined;
  readonly priority: Priority;
  readonly maxPoolSharePercent: number;
  readonly deadlines: Deadlines;
  readonly retries: Retries;
  readonly holdMs: number;
  readonly queueTimeoutMs: number;
}
