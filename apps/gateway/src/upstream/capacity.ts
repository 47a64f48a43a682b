import type { Clock, Credential, PlannedAttempt, PoolReport, Provider } from '@sluice/contracts';
import { createSlotPool, type SlotPool, type Timers } from '@sluice/limits';
import { createAccount, type Account } from '@sluice/resilience';
import { AccountRates } from './account-rates.ts';

/** One account at a provider, with its slots, its rates and its standing. */
export interface CredentialCapacity {
  readonly provider: string;
  readonly credential: Credential;
  /** Its gate is `rates`. */
  readonly pool: SlotPool;
  readonly account: Account;
  readonly rates: AccountRates;
}

/** Who asks an account for how much. */
export interface AccountDemand {
  readonly tenantId: string;
  /** Expected input and output. */
  readonly tokens: number;
  /** How long it would wait for the account's rate, milliseconds. */
  readonly mayWaitMs: number;
}

/** Why an attempt found no account that it may use, and for how long, milliseconds; at least 1. */
export interface NoAccount {
  readonly from: 'rate_limit' | 'account';
  readonly forMs: number;
}

/** Capacity of all providers, shared by everyone who calls them. Faults of an account stay with that account. */
export interface Capacity {
  /**
   * The usable credential of an attempt with the largest free share by weight, one whose rate has room first; undefined
   * when every one rests for this tenant and model. Whoever takes it asks its account for leave at once.
   *
   * @param version of the configuration that the attempt was planned by; sizes of an older one do not come back.
   */
  pick(attempt: PlannedAttempt, version: number, demand: AccountDemand): CredentialCapacity | undefined;
  /** The credential that is free soonest; undefined when one is usable now. */
  restOf(attempt: PlannedAttempt, demand: AccountDemand): NoAccount | undefined;
  report(): PoolReport[];
}

interface Entry extends CredentialCapacity {
  credential: Credential;
  version: number;
}

/** Rests of one account that are reported, those for everybody first. */
const MAX_RESTS = 20;

export function createCapacity({ clock, timers }: { readonly clock: Clock; readonly timers?: Timers }): Capacity {
  const entries = new Map<string, Entry>();

  const entryOf = (provider: Provider, credential: Credential, version: number): Entry => {
    const id = `${provider.id}/${credential.id}`;
    const known = entries.get(id);
    if (known === undefined) {
      const rates = new AccountRates(credential, clock);
      const made: Entry = {
        provider: provider.id,
        credential,
        version,
        pool: createSlotPool({
          ...sizeOf(credential),
          clock,
          gate: rates,
          ...(timers === undefined ? {} : { timers }),
        }),
        account: createAccount({ clock }),
        rates,
      };
      entries.set(id, made);
      return made;
    }
    if (known.credential !== credential && version >= known.version) {
      known.credential = credential;
      known.version = version;
      known.rates.resize(credential);
      known.pool.resize(sizeOf(credential));
    }
    return known;
  };

  return {
    pick({ provider, model, credentials }, version, { tenantId, tokens, mayWaitMs }) {
      let best: Entry | undefined;
      let bestFree = -Infinity;
      let bestWaitMs = Infinity;
      for (const credential of credentials) {
        const entry = entryOf(provider, credential, version);
        if (credential.weight === 0 || entry.account.restMs(tenantId, model) > 0) continue;
        const waitMs = entry.rates.waitMs(model, tokens);
        if (waitMs > mayWaitMs) continue;
        if (credentials.length === 1) return entry;
        const free = ((credential.slots - entry.pool.stats.inUse) / credential.slots) * credential.weight;
        if (waitMs > bestWaitMs || (waitMs === bestWaitMs && free <= bestFree)) continue;
        bestWaitMs = waitMs;
        bestFree = free;
        best = entry;
      }
      return best;
    },
    restOf({ provider, model, credentials }, { tenantId, tokens, mayWaitMs }) {
      let soonest: NoAccount | undefined;
      for (const credential of credentials) {
        const { account, rates } = entryOf(provider, credential, 0);
        if (credential.weight === 0) continue;
        const rateMs = rates.waitMs(model, tokens);
        const forMs = Math.max(account.restMs(tenantId, model), rateMs > mayWaitMs ? rateMs : 0);
        if (forMs === 0) return undefined;
        if (soonest === undefined || forMs < soonest.forMs)
          soonest = {
            from: account.isRefused(tenantId, model) ? 'account' : 'rate_limit',
            forMs: Math.max(1, Math.ceil(forMs)),
          };
      }
      return soonest ?? { from: 'account', forMs: 1_000 };
    },
    report() {
      return [...entries.values()].map(reportOf);
    },
  };
}

function reportOf({ provider, credential, pool, account, rates }: Entry): PoolReport {
  const { inUse, queuedByPriority, oldestWaitMs, reservedInUse } = pool.stats;
  return {
    provider,
    credential: credential.id,
    slots: credential.slots,
    in_use: inUse,
    queued: queuedByPriority,
    oldest_wait_ms: oldestWaitMs,
    state: STATE[account.state.kind],
    rests: account.rests(MAX_RESTS).map(({ kind, status, model, tenantId, untilMs }) => ({
      kind,
      until_ms: untilMs,
      ...(status === undefined ? {} : { status }),
      ...(model === undefined ? {} : { model }),
      ...(tenantId === undefined ? {} : { tenant: tenantId }),
    })),
    rates: rates.inForce().map(({ model, requestsPerMinute, tokensPerMinute, from }) => ({
      from,
      ...(model === undefined ? {} : { model }),
      ...(requestsPerMinute === undefined ? {} : { requests_per_minute: requestsPerMinute }),
      ...(tokensPerMinute === undefined ? {} : { tokens_per_minute: tokensPerMinute }),
    })),
    ...(credential.reserved === undefined ? {} : { reserved: { ...credential.reserved, in_use: reservedInUse } }),
    ...(credential.tiers === undefined ? {} : { tiers: credential.tiers }),
  };
}

const STATE = { ok: 'ok', cooling: 'cooldown', refused: 'account_fault' } as const satisfies Record<
  Account['state']['kind'],
  PoolReport['state']
>;

function sizeOf({ slots, reserved }: Credential) {
  return { slots, ...(reserved === undefined ? {} : { reserved }) };
}
