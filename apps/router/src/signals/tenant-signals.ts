import type { Clock } from '@sluice/contracts';

/** What the spine tells of one tenant, both in 0..1. */
export interface TenantSignals {
  readonly tenant: string;
  /** Mean length of its answers as a share of `TOKENS_REF`, the newest weighing most: hard traffic argues for a more capable model. */
  readonly difficulty: number;
  /** Share of its requests that were throttled or shed: a throttled customer is better off with a faster model. */
  readonly pressure: number;
  /** Calls and refusals that were counted since this process started. */
  readonly events: number;
  /** Newest event, epoch milliseconds. */
  readonly last_ms: number;
}

export interface TenantSignalStore {
  /** Counts an answered call. False when its event was counted before. */
  answered(event: { readonly id: string; readonly tenant: string; readonly atMs: number; readonly outputTokens: number }): boolean;
  /** Counts `count` refusals of one second. False when the event was counted before. */
  refused(event: { readonly id: string; readonly tenant: string; readonly atMs: number; readonly count: number }): boolean;
  /** Undefined for a tenant of which nothing was heard. */
  of(tenant: string): TenantSignals | undefined;
  all(): TenantSignals[];
}

/** An answer of this many tokens, or more, is of difficulty 1. */
export const TOKENS_REF = 750;
/** An event weighs 1/e after this. */
const TAU_MS = 60_000;
/** Imagined answered requests, so that one refusal of a quiet tenant is no pressure of 1, and pressure fades when nothing arrives. */
const PRIOR_REQUESTS = 10;

interface Sums {
  /** Sums of the past, decayed to `atMs`. */
  difficulty: number;
  answered: number;
  refused: number;
  events: number;
  atMs: number;
}

/**
 * Exponentially weighted means per tenant, in decayed sums: equal to a bias-corrected EWMA with alpha = 1 - exp(-dt / tau) for regular
 * events, and indifferent to the order in which a batch arrives. Repeated deliveries are counted once. Bounded: the tenant that was
 * heard of longest ago goes first, and so do remembered event ids.
 */
export function createTenantSignals({ clock, maxTenants = 10_000, maxIds = 50_000 }: { clock: Clock; maxTenants?: number; maxIds?: number }): TenantSignalStore {
  const sums = new Map<string, Sums>();
  const seen = new Set<string>();

  function isNew(id: string): boolean {
    if (seen.has(id)) return false;
    seen.add(id);
    if (seen.size > maxIds) seen.delete(seen.values().next().value as string);
    return true;
  }

  /** The sums of a tenant, decayed to an event's time, and the weight of that event: below 1 when it is older than the newest. */
  function at(tenant: string, atMs: number): { sum: Sums; weight: number } {
    const sum = sums.get(tenant) ?? { difficulty: 0, answered: 0, refused: 0, events: 0, atMs };
    sums.delete(tenant);
    sums.set(tenant, sum);
    if (sums.size > maxTenants) sums.delete(sums.keys().next().value as string);
    if (atMs <= sum.atMs) return { sum, weight: decay(sum.atMs - atMs) };
    const factor = decay(atMs - sum.atMs);
    sum.difficulty *= factor;
    sum.answered *= factor;
    sum.refused *= factor;
    sum.atMs = atMs;
    return { sum, weight: 1 };
  }

  function show(tenant: string, sum: Sums): TenantSignals {
    const fade = decay(Math.max(0, clock.now() - sum.atMs));
    return {
      tenant,
      difficulty: sum.answered === 0 ? 0 : sum.difficulty / sum.answered,
      pressure: (sum.refused * fade) / ((sum.refused + sum.answered) * fade + PRIOR_REQUESTS),
      events: sum.events,
      last_ms: sum.atMs,
    };
  }

  return {
    answered: ({ id, tenant, atMs, outputTokens }) => {
      if (!isNew(id)) return false;
      const { sum, weight } = at(tenant, atMs);
      sum.difficulty += weight * Math.min(outputTokens / TOKENS_REF, 1);
      sum.answered += weight;
      sum.events += 1;
      return true;
    },
    refused: ({ id, tenant, atMs, count }) => {
      if (!isNew(id)) return false;
      const { sum, weight } = at(tenant, atMs);
      sum.refused += weight * count;
      sum.events += count;
      return true;
    },
    of: (tenant) => {
      const sum = sums.get(tenant);
      return sum === undefined ? undefined : show(tenant, sum);
    },
    all: () => [...sums].map(([tenant, sum]) => show(tenant, sum)),
  };
}

const decay = (ms: number): number => Math.exp(-ms / TAU_MS);
