import type { LevelAmendment } from '@sluice/contracts';
import type { CountedOfLevel } from './replayed-calls.ts';
import type { SendExchange } from './tier-tenant.ts';

/** What the authority holds of one level at a moment. */
export interface HeldOfLevel {
  readonly amended: number;
  /** The statements of gateways about it, see `SettledTrack`. */
  readonly statements: readonly (readonly [gatewayId: string, statement: string])[];
  /** The steps of each window named. */
  readonly windows: readonly (readonly (readonly [startMs: number, used: number])[])[];
}

/**
 * What gateways share: the counters of all tenants, behind a network. Every call rejects when it cannot be reached,
 * and those about one tenant with a `TenantFault` when only that tenant's part is broken.
 */
export interface Authority {
  readonly exchange: SendExchange;
  /**
   * What is known of these levels of a tenant, and what this gateway (in any of its lives) last said that it had
   * reported of them.
   */
  counted(
    tenantId: string,
    levels: readonly { readonly key: string; readonly windows: readonly string[] }[],
  ): Promise<readonly CountedOfLevel[]>;
  /** What it holds of these levels of a tenant, and which calls are in that. */
  audit(
    tenantId: string,
    levels: readonly { readonly key: string; readonly windows: readonly string[] }[],
  ): Promise<readonly HeldOfLevel[]>;
  /** Adds what an audit of the level found; false when it was amended since. */
  amend(tenantId: string, key: string, amendment: Pick<LevelAmendment, 'amended' | 'windows'>): Promise<boolean>;
  /** Keeps what this gateway holds of a tenant; false when it was given up already. */
  touch(tenantId: string): Promise<boolean>;
  /** Says that this gateway lives (or signs it off) and gives the number of those alive in the cell. */
  register(alive: boolean): Promise<number>;
  /** True while commands can be sent. */
  readonly ready: boolean;
  /** Calls back each time it becomes reachable, and each time it is lost. */
  watch(watcher: { ready(): void; lost(error: Error): void }): void;
  /** Begins a new connection: this one does not answer. */
  reconnect(): void;
  close(): Promise<void>;
}
