import type { Clock, Credential, PlannedAttempt, PoolReport, Provider } from '@sluice/contracts';
import { createSlotPool, type SlotPool } from '@sluice/limits';

/** How long a credential rests after a 429 without a Retry-After. */
const DEFAULT_COOLDOWN_MS = 1_000;
const MAX_COOLDOWN_MS = 60_000;
/** How long a credential that the provider refused (401, 402, 403) is left alone before it is tried again. */
const ACCOUNT_REST_MS = 30_000;

/** One account at a provider, with its slots and its standing. */
export interface CredentialCapacity {
  readonly provider: string;
  readonly credential: Credential;
  readonly pool: SlotPool;
  cooldownUntil: number;
  accountFaultUntil: number;
}

/** Capacity of all providers, shared by everyone who calls them. Rate faults of an account stay with that account. */
export interface Capacity {
  /** The usable credential of an attempt with the largest free share by weight; undefined when every one rests. */
  pick(attempt: PlannedAttempt): CredentialCapacity | undefined;
  /** Why `pick` found nothing: what the credential that is free soonest rests from, and for how long, milliseconds. */
  restOf(attempt: PlannedAttempt): { readonly from: 'rate_limit' | 'account'; readonly forMs: number };
  rateLimited(capacity: CredentialCapacity, retryAfterMs: number | undefined): void;
  accountFault(capacity: CredentialCapacity): void;
  report(): PoolReport[];
}

export function createCapacity({ clock }: { clock: Clock }): Capacity {
  const pools = new Map<string, CredentialCapacity>();

  const capacityOf = (provider: Provider, credential: Credential): CredentialCapacity => {
    const id = `${provider.id}/${credential.id}`;
    const known = pools.get(id);
    if (known !== undefined && known.credential.slots === credential.slots) return known;
    const made: CredentialCapacity = {
      provider: provider.id,
      credential,
      pool: createSlotPool({ slots: credential.slots, clock, ...(credential.reserved === undefined ? {} : { reserved: credential.reserved }) }),
      cooldownUntil: 0,
      accountFaultUntil: 0,
    };
    pools.set(id, made);
    return made;
  };

  return {
    pick(attempt) {
      const now = clock.monotonic();
      let best: CredentialCapacity | undefined;
      let bestFree = -Infinity;
      for (const credential of attempt.credentials) {
        const capacity = capacityOf(attempt.provider, credential);
        if (capacity.cooldownUntil > now || capacity.accountFaultUntil > now || credential.weight === 0) continue;
        if (attempt.credentials.length === 1) return capacity;
        const { inUse } = capacity.pool.stats;
        const free = ((credential.slots - inUse) / credential.slots) * credential.weight;
        if (free > bestFree) {
          bestFree = free;
          best = capacity;
        }
      }
      return best;
    },
    restOf(attempt) {
      const now = clock.monotonic();
      let soonest: { from: 'rate_limit' | 'account'; forMs: number } = { from: 'account', forMs: ACCOUNT_REST_MS };
      for (const credential of attempt.credentials) {
        const { cooldownUntil, accountFaultUntil } = capacityOf(attempt.provider, credential);
        const from = accountFaultUntil > cooldownUntil ? 'account' : 'rate_limit';
        const forMs = Math.max(1, Math.max(cooldownUntil, accountFaultUntil) - now);
        if (forMs <= soonest.forMs) soonest = { from, forMs };
      }
      return soonest;
    },
    rateLimited(capacity, retryAfterMs) {
      const rest = Math.min(retryAfterMs ?? DEFAULT_COOLDOWN_MS, MAX_COOLDOWN_MS);
      capacity.cooldownUntil = Math.max(capacity.cooldownUntil, clock.monotonic() + rest);
    },
    accountFault(capacity) {
      capacity.accountFaultUntil = clock.monotonic() + ACCOUNT_REST_MS;
    },
    report() {
      const now = clock.monotonic();
      return [...pools.values()].map(({ provider, credential, pool, cooldownUntil, accountFaultUntil }) => {
        const { inUse, queuedByPriority, oldestWaitMs } = pool.stats;
        return {
          provider,
          credential: credential.id,
          slots: credential.slots,
          in_use: inUse,
          queued: queuedByPriority,
          oldest_wait_ms: oldestWaitMs,
          state: accountFaultUntil > now ? 'account_fault' : cooldownUntil > now ? 'cooldown' : 'ok',
        } satisfies PoolReport;
      });
    },
  };
}
