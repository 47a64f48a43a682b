import type { FeatureSpec, PolicySettings, RouteDecision, SnapshotArm } from '@sluice/contracts';
import type { ReactionChange, ReactionState } from '@sluice/routing';

/** A policy as a person made it. */
export interface StoredPolicy {
  readonly version: string;
  readonly note: string;
  readonly createdBy: string;
  readonly settings: PolicySettings;
  readonly features: FeatureSpec;
  /** Models of its own that never change; the shared ones when absent. */
  readonly arms?: readonly SnapshotArm[] | undefined;
}

/** Who did something and why. */
export interface Cause {
  readonly actor: string;
  readonly reason: string;
}

/**
 * What changes the router's state. The state is a fold over these in the order of `seq`, so it can be made again to
 * the last bit.
 */
export type JournalBody =
  /** A decision has its reward. Each decision at most once. */
  | { readonly kind: 'reward'; readonly tenant: string; readonly reward: number; readonly decision: RouteDecision }
  /** Models of the catalogue that had no arm yet. */
  | { readonly kind: 'models_seen'; readonly models: readonly { readonly id: string; readonly tier: number }[] }
  | { readonly kind: 'policy_created'; readonly policy: StoredPolicy }
  | ({
      readonly kind: 'rollout_created';
      readonly id: string;
      readonly policyVersion: string;
      readonly margin: number;
    } & Cause)
  | ({ readonly kind: 'rollout_started' | 'rollout_aborted' | 'rollout_breached'; readonly id: string } & Cause)
  | ({ readonly kind: 'rollout_reset'; readonly id: string; readonly newId: string } & Cause)
  /**
   * Where the ladder of reactions to drift stands from now on, and the step if one was taken; `actor` is `system`
   * or a person.
   */
  | {
      readonly kind: 'drift_reaction';
      readonly reaction: ReactionState;
      readonly change?: ReactionChange | undefined;
      readonly actor: string;
    };

export interface JournalEntry {
  /** Unbroken, from 1. */
  readonly seq: number;
  readonly atMs: number;
  readonly body: JournalBody;
}
