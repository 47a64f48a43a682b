import { BUCKETS, slotOf } from './event-window.ts';

/** Requests and retries of one tenant within the window. */
class TenantUse {
  readonly tenantId: string;
  requests = 0;
  retries = 0;
  /** Requests, then retries, of each sub-window. */
  readonly steps = new Uint32Array(2 * BUCKETS);
  /** The newest sub-window in which it did something. */
  newest = -Infinity;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }
}

/**
 * Counts requests and retries of each tenant over the same sub-windows as `EventWindow`, and what all of them
 * together may still retry of their own share. Pure: time, on a monotonic clock, is a parameter. A tenant is kept
 * while the window holds anything of it. An event costs one look-up in a map; what a sub-window held is forgotten
 * at the cost of what was done in it.
 */
export class TenantRetries {
  readonly #bucketMs: number;
  readonly #percent: number;
  readonly #tenants = new Map<string, TenantUse>();
  /** Who did something in each sub-window. */
  readonly #active: readonly TenantUse[][] = Array.from({ length: BUCKETS }, () => []);
  #newest = -Infinity;
  #unused = 0;

  /** @param percent of a tenant's requests that are its own retries. */
  constructor(windowMs: number, percent: number) {
    this.#bucketMs = windowMs / BUCKETS;
    this.#percent = percent;
  }

  /** Tenants that the window holds anything of. */
  get size(): number {
    return this.#tenants.size;
  }

  /** Whole retries that the tenants together have left of their own, as of the last call with a time. */
  get unused(): number {
    return this.#unused;
  }

  addRequest(tenantId: string, nowMs: number): void {
    this.#change(this.#touch(tenantId, nowMs), slotOf(this.#newest), 1, 0);
  }

  addRetry(tenantId: string, nowMs: number): void {
    this.#change(this.#touch(tenantId, nowMs), slotOf(this.#newest), 0, 1);
  }

  /** Retries that the tenant has made at `nowMs`. */
  made(tenantId: string, nowMs: number): number {
    this.roll(nowMs);
    return this.#tenants.get(tenantId)?.retries ?? 0;
  }

  /** Whole retries that the tenant's requests give it, made or not, as of the last call with a time. */
  own(tenantId: string): number {
    const use = this.#tenants.get(tenantId);
    return use === undefined ? 0 : this.#ownOf(use);
  }

  /** Forgets what is older than the window. */
  roll(nowMs: number): void {
    const bucket = Math.floor(nowMs / this.#bucketMs);
    if (bucket <= this.#newest) return;
    if (bucket - this.#newest >= BUCKETS) this.#clear();
    else for (let old = this.#newest + 1; old <= bucket; old++) this.#forget(slotOf(old));
    this.#newest = bucket;
  }

  #touch(tenantId: string, nowMs: number): TenantUse {
    this.roll(nowMs);
    let use = this.#tenants.get(tenantId);
    if (use === undefined) this.#tenants.set(tenantId, (use = new TenantUse(tenantId)));
    if (use.newest !== this.#newest) {
      use.newest = this.#newest;
      this.#active[slotOf(this.#newest)]?.push(use);
    }
    return use;
  }

  #change(use: TenantUse, slot: number, requests: number, retries: number): void {
    const before = this.#unusedOf(use);
    use.requests += requests;
    use.retries += retries;
    use.steps[slot] = (use.steps[slot] ?? 0) + requests;
    use.steps[BUCKETS + slot] = (use.steps[BUCKETS + slot] ?? 0) + retries;
    this.#unused += this.#unusedOf(use) - before;
  }

  #forget(slot: number): void {
    const active = this.#active[slot] as TenantUse[];
    for (const use of active) {
      this.#change(use, slot, -(use.steps[slot] ?? 0), -(use.steps[BUCKETS + slot] ?? 0));
      if (use.requests === 0 && use.retries === 0) this.#tenants.delete(use.tenantId);
    }
    active.length = 0;
  }

  #clear(): void {
    this.#tenants.clear();
    for (const active of this.#active) active.length = 0;
    this.#unused = 0;
  }

  #ownOf(use: TenantUse): number {
    return Math.floor((use.requests * this.#percent) / 100);
  }

  #unusedOf(use: TenantUse): number {
    return Math.max(0, this.#ownOf(use) - use.retries);
  }
}
