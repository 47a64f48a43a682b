import { TenantSignals, type TenantProfile, type TenantSignalsState } from './tenant-signals.ts';

/** The signals of all tenants; bounded: the tenant that was heard of longest ago goes first. */
export interface SignalTable {
  /** Counts an answered call. False when its event was counted before. */
  settled(event: {
    readonly tenant: string;
    readonly eventId: string;
    readonly outputTokens: number;
    readonly atMs: number;
    readonly expectedTokens?: number | undefined;
  }): boolean;
  /** Counts refusals of one second. False when their event was counted before. */
  refused(event: {
    readonly tenant: string;
    readonly eventId: string;
    readonly count: number;
    readonly atMs: number;
  }): boolean;
  /** Undefined for a tenant of which nothing was heard. */
  profile(tenant: string, nowMs: number): TenantProfile | undefined;
  profiles(nowMs: number): [tenant: string, profile: TenantProfile][];
  /** Goes on where another table stood; what this one has heard of other tenants stays. */
  restore(saved: readonly (readonly [tenant: string, state: TenantSignalsState])[]): void;
  /** To go on from after a restart. */
  readonly state: readonly [tenant: string, state: TenantSignalsState][];
}

export function createSignalTable({ maxTenants = 10_000 }: { maxTenants?: number } = {}): SignalTable {
  const table = new Map<string, TenantSignals>();

  function of(tenant: string): TenantSignals {
    const signals = table.get(tenant) ?? new TenantSignals();
    table.delete(tenant);
    table.set(tenant, signals);
    if (table.size > maxTenants) table.delete(table.keys().next().value as string);
    return signals;
  }

  return {
    settled: ({ tenant, ...event }) => of(tenant).settled(event),
    refused: ({ tenant, ...event }) => of(tenant).refused(event),
    profile: (tenant, nowMs) => table.get(tenant)?.profile(nowMs),
    profiles: (nowMs) => [...table].map(([tenant, signals]) => [tenant, signals.profile(nowMs)]),
    restore: (saved) => {
      for (const [tenant, state] of saved) table.set(tenant, TenantSignals.restore(state));
    },
    get state() {
      return [...table].map(([tenant, signals]): [string, TenantSignalsState] => [tenant, signals.state]);
    },
  };
}
