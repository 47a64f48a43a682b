import type { CountedOfLevel } from './replayed-calls.ts';
import type { SendExchange } from './tier-tenant.ts';

/** What gateways share: the counters of all tenants, behind a network. Every call rejects when it cannot be reached. */
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
