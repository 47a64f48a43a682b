import type { Clock, Credential, PlannedAttempt, PoolReport, Provider } from '@sluice/contracts';
import { createSlotPool, type SlotPool } from '@sluice/limits';
import { createAccount, type Account } from '@sluice/resilience';
import { CredentialRate, hasRate, type RateDemand } from './credential-rate.ts';

/** One account at a provider, with its slots and its standing. */
export interface CredentialCapacity {
  readonly provider: string;
  readonly credential: Credential;
  readonly pool: SlotPool;
  readonly account: Account;
  /** Of an account with requests or tokens per minute; whoever takes the account takes of it. */
  readonly rate: CredentialRate | undefined;
}

/** Why an attempt found no account that it may use, and for how long, milliseconds; at least 1. */
export interface AccountRest {
  readonly from: 'rate_limit' | 'account';
  readonly forMs: number;
}

/** Capacity of all providers, shared by everyone who calls them. Rate faults of an account stay with that account. */
export interface Capacity {
  /**
   * The usable credential of an attempt with the largest free share by weight; undefined when every one rests. Whoever
   * takes it asks its account for leave at once.
   *
   * @param version of the configuration that the attempt was planned by; sizes of an older one do not come back.
   * @param demand what is wanted of an account's rate; nothing when absent.
   */
  pick(attempt: PlannedAttempt, version: number, demand?: RateDemand): CredentialCapacity | undefined;
  /** The credential that is free soonest; undefined when one is usable now. */
  restOf(attempt: PlannedAttempt, demand?: RateDemand): AccountRest | undefined;
  report(): PoolReport[];
}

interface Entry extends CredentialCapacity {
  credential: Credential;
  version: number;
  rate: CredentialRate | undefined;
}

/** For the gateway's own small calls, and for whoever only looks. */
export const NO_DEMAND: RateDemand = { tenantId: '', maxSharePercent: 100, tokens: 0 };

export function createCapacity({ clock }: { clock: Clock }): Capacity {
  const entries = new Map<string, Entry>();

  const entryOf = (provider: Provider, credential: Credential, version: number): Entry => {
    const id = `${provider.id}/${credential.id}`;
    const known = entries.get(id);
    if (known === undefined) {
      const made: Entry = {
        provider: provider.id,
        credential,
        version,
        pool: createSlotPool({ ...sizeOf(credential), clock }),
        account: createAccount({ clock }),
        rate: hasRate(credential) ? new CredentialRate(credential, clock) : undefined,
      };
      entries.set(id, made);
      return made;
    }
    if (known.credential !== credential && version >= known.version) {
      known.credential = credential;
      known.version = version;
      known.pool.resize(sizeOf(credential));
      known.rate?.resize(credential);
      if (hasRate(credential)) known.rate ??= new CredentialRate(credential, clock);
      else known.rate = undefined;
    }
    return known;
  };

  return {
    pick({ provider, credentials }, version, demand = NO_DEMAND) {
      let best: Entry | undefined;
      let bestFree = -Infinity;
      for (const credential of credentials) {
        const entry = entryOf(provider, credential, version);
        if (
          credential.weight === 0 ||
          !entry.account.usable ||
          (entry.rate !== undefined && entry.rate.waitMs(demand) > 0)
        )
          continue;
        if (credentials.length === 1) return entry;
        const free = ((credential.slots - entry.pool.stats.inUse) / credential.slots) * credential.weight;
        if (free > bestFree) {
          bestFree = free;
          best = entry;
        }
      }
      return best;
    },
    restOf({ provider, credentials }, demand = NO_DEMAND) {
      let soonest: AccountRest | undefined;
      for (const credential of credentials) {
        const { account, rate } = entryOf(provider, credential, 0);
        if (credential.weight === 0) continue;
        const forMs = Math.max(account.restMs(), rate?.waitMs(demand) ?? 0);
        if (forMs === 0) return undefined;
        if (soonest === undefined || forMs < soonest.forMs)
          soonest = {
            from: account.state.kind === 'refused' ? 'account' : 'rate_limit',
            forMs: Math.max(1, Math.ceil(forMs)),
          };
      }
      return soonest ?? { from: 'account', forMs: 1_000 };
    },
    report() {
      return [...entries.values()].map(({ provider, credential, pool, account, rate }) => {
        const { inUse, queuedByPriority, oldestWaitMs } = pool.stats;
        return {
          provider,
          credential: credential.id,
          slots: credential.slots,
          in_use: inUse,
          queued: queuedByPriority,
          oldest_wait_ms: oldestWaitMs,
          state:
            account.state.kind === 'ok' && rate !== undefined && rate.waitMs(NO_DEMAND) > 0
              ? 'cooldown'
              : STATE[account.state.kind],
        } satisfies PoolReport;
      });
    },
  };
}

const STATE = { ok: 'ok', cooling: 'cooldown', refused: 'account_fault' } as const satisfies Record<
  Account['state']['kind'],
  PoolReport['state']
>;

function sizeOf({ slots, reserved }: Credential) {
  return { slots, ...(reserved === undefined ? {} : { reserved }) };
}
