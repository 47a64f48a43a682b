import type { Clock } from '@sluice/contracts';
import type {
  Account,
  AccountOptions,
  AccountRest,
  AccountScope,
  AccountState,
  AccountUse,
  LimitReach,
  LimitVerdict,
} from './account.ts';
import { ProbeTurns } from './probe-turns.ts';
import { RecentMap } from './recent-map.ts';

/** A probe that is not answered gives its place to another tenant after this long. */
const TAKEOVER_MS = 5_000;
/** Pause after the first refused probe of what rests for all by suspicion; doubled at each further one. */
const FIRST_PAUSE_MS = 1_000;
/** A refusal that nobody tries any more is forgotten after this long. */
const FORGET_MS = 600_000;
const WHOLE: AccountScope = {};
/** Calls in a row that say of a tenant that it is served whatever others meet. */
const RUN = 10;
/** A pause this long ends such a row. */
const RUN_GAP_MS = 10_000;

/** What one tenant met on one model. All times monotonic milliseconds. */
interface TenantStanding {
  servedAtMs: number;
  /** Calls served in a row, none of them long after the one before, since the last limit. */
  servedRun: number;
  limitedUntilMs: number;
  /** Times in a row that the tenant was refused; 0 when it is not. */
  refusals: number;
  refusedStatus: number | undefined;
  retryAtMs: number;
}

/** A refusal for all tenants. */
interface Fault {
  readonly status: number | undefined;
  readonly sinceMs: number;
  readonly born: number;
  /** Provider's own word: who has recent success is held back too. */
  readonly certain: boolean;
  readonly turns: ProbeTurns;
}

interface SharedLimit {
  untilMs: number;
  readonly born: number;
  readonly certain: boolean;
  readonly turns: ProbeTurns;
}

interface Held {
  readonly untilMs: number;
  readonly turns: readonly ProbeTurns[];
  readonly refused: boolean;
  readonly tenant: TenantStanding | undefined;
}

interface Suspicion extends Required<AccountScope> {
  readonly atMs: number;
}

interface ModelStanding {
  readonly tenants: RecentMap<TenantStanding>;
  limit: SharedLimit | undefined;
  fault: Fault | undefined;
  /** The tenant that was limited, or refused, with nobody else served since. */
  limitSuspicion: Suspicion | undefined;
  faultSuspicion: Suspicion | undefined;
}

/** See `createAccount`. */
export class AccountStanding implements Account {
  readonly #clock: Clock;
  readonly #options: Required<Omit<AccountOptions, 'clock'>>;
  readonly #models = new Map<string, ModelStanding>();
  #limitedUntilMs = -Infinity;
  #fault: Fault | undefined;
  #faultSuspicion: Suspicion | undefined;
  /** When a tenant was refused last, on whatever model: its next refusal tells nothing new about the account. */
  readonly #refusedAtMs: RecentMap<number>;
  /** Grows with each verdict; what was sent before a verdict does not lift it. */
  #verdicts = 0;
  /** From then on nothing rests; before it, somebody may be held back. -Infinity: nothing to look at. */
  #calmAtMs = -Infinity;

  constructor({ clock, ...options }: AccountOptions) {
    this.#clock = clock;
    this.#options = {
      coolingMs: 1_000,
      maxCoolingMs: 60_000,
      refusedRestMs: 30_000,
      probeTimeoutMs: 60_000,
      suspicionMs: 30_000,
      evidenceMs: 30_000,
      maxTenants: 500,
      ...options,
    };
    this.#refusedAtMs = new RecentMap(this.#options.maxTenants);
  }

  get state(): AccountState {
    const now = this.#clock.monotonic();
    if (this.#isCalm(now)) return { kind: 'ok' };
    if (this.#fault !== undefined) {
      const { status, sinceMs, turns } = this.#fault;
      return { kind: 'refused', status, sinceMs: this.#epochOf(sinceMs), retryAtMs: this.#epochOf(turns.nextAtMs) };
    }
    if (now >= this.#limitedUntilMs) return { kind: 'ok' };
    return { kind: 'cooling', untilMs: this.#epochOf(this.#limitedUntilMs) };
  }

  rests(most: number): AccountRest[] {
    const now = this.#clock.monotonic();
    if (this.#isCalm(now)) return [];
    const found: AccountRest[] = [];
    const add = (rest: AccountRest): void => {
      found.push({ ...rest, untilMs: this.#epochOf(rest.untilMs) });
    };
    const refusedUntil = (atMs: number): number => Math.max(atMs, now);
    if (this.#fault !== undefined)
      add({ kind: 'refused', status: this.#fault.status, untilMs: refusedUntil(this.#fault.turns.nextAtMs) });
    if (now < this.#limitedUntilMs) add({ kind: 'limited', untilMs: this.#limitedUntilMs });
    for (const [model, { limit, fault }] of this.#models) {
      if (fault !== undefined)
        add({ kind: 'refused', model, status: fault.status, untilMs: refusedUntil(fault.turns.nextAtMs) });
      if (limit !== undefined && now < limit.untilMs) add({ kind: 'limited', model, untilMs: limit.untilMs });
    }
    for (const [model, { tenants }] of this.#models)
      for (const [tenantId, tenant] of tenants.entries()) {
        if (found.length >= most) return found.slice(0, most);
        if (isRefused(tenant, now))
          add({
            kind: 'refused',
            model,
            tenantId,
            status: tenant.refusedStatus,
            untilMs: refusedUntil(tenant.retryAtMs),
          });
        if (now < tenant.limitedUntilMs) add({ kind: 'limited', model, tenantId, untilMs: tenant.limitedUntilMs });
      }
    return found.slice(0, most);
  }

  tryUse(tenantId: string, model: string): AccountUse | undefined {
    const born = this.#verdicts;
    if (this.#calmAtMs === -Infinity) return { tenantId, model, probe: false, born };
    const now = this.#clock.monotonic();
    if (this.#isCalm(now)) return { tenantId, model, probe: false, born };
    const held = this.#heldBy(tenantId, model, now);
    if (held.untilMs > now) return undefined;
    const taken: ProbeTurns[] = [];
    for (const turns of held.turns) {
      if (turns.tryTake(tenantId, now)) taken.push(turns);
      else {
        for (const one of taken) one.leave(tenantId);
        return undefined;
      }
    }
    if (held.tenant !== undefined) held.tenant.retryAtMs = now + this.#options.probeTimeoutMs;
    return { tenantId, model, probe: held.tenant !== undefined || taken.length > 0, born };
  }

  restMs(tenantId: string, model: string): number {
    if (this.#calmAtMs === -Infinity) return 0;
    const now = this.#clock.monotonic();
    if (this.#isCalm(now)) return 0;
    const { untilMs, turns } = this.#heldBy(tenantId, model, now);
    return turns.reduce((longest, one) => Math.max(longest, one.waitMs(tenantId, now)), Math.max(0, untilMs - now));
  }

  isRefused(tenantId: string, model: string): boolean {
    const now = this.#clock.monotonic();
    return !this.#isCalm(now) && this.#heldBy(tenantId, model, now).refused;
  }

  /**
   * What holds a call of this tenant back: until when at least, and whose turns it must take then. `tenant` is there
   * where its own refusal is tried again.
   */
  #heldBy(tenantId: string, model: string, nowMs: number): Held {
    const { tenants, fault, limit } = this.#modelOf(model);
    const tenant = tenants.get(tenantId);
    const refusedItself = tenant !== undefined && isRefused(tenant, nowMs);
    const proven = tenant !== undefined && nowMs - tenant.servedAtMs <= this.#options.evidenceMs;
    const turns: ProbeTurns[] = [];
    let untilMs = Math.max(this.#limitedUntilMs, tenant?.limitedUntilMs ?? -Infinity);
    if (refusedItself) untilMs = Math.max(untilMs, tenant.retryAtMs);
    const whole = this.#fault;
    const refusedAnywhere = nowMs - (this.#refusedAtMs.get(tenantId) ?? -Infinity) < FORGET_MS;
    if (whole !== undefined && (whole.certain || (!proven && !refusedAnywhere))) turns.push(whole.turns);
    if (fault !== undefined && !proven && !refusedItself) turns.push(fault.turns);
    const refused = refusedItself || turns.length > 0;
    if (limit !== undefined && nowMs < limit.untilMs) {
      if (limit.certain) untilMs = Math.max(untilMs, limit.untilMs);
      else if (!proven) turns.push(limit.turns);
    }
    return { untilMs, turns, refused, tenant: refusedItself ? tenant : undefined };
  }

  rateLimited(
    use: AccountUse,
    { retryAfterMs, reach }: { readonly retryAfterMs: number | undefined; readonly reach: LimitReach },
  ): LimitVerdict {
    const now = this.#clock.monotonic();
    const ended = this.#accept(use, now);
    const { coolingMs, maxCoolingMs, suspicionMs } = this.#options;
    const untilMs = now + Math.min(retryAfterMs ?? coolingMs, maxCoolingMs);
    const standing = this.#modelOf(use.model);
    const tenant = tenantOf(standing, use.tenantId);
    tenant.limitedUntilMs = Math.max(tenant.limitedUntilMs, untilMs);
    tenant.servedAtMs = -Infinity;
    tenant.servedRun = 0;
    this.#note(Math.max(tenant.limitedUntilMs, now + suspicionMs));
    const own = reach === 'caller' && othersServed(standing, now);
    const before = standing.limitSuspicion;
    standing.limitSuspicion = { tenantId: use.tenantId, model: use.model, atMs: now };
    const limit = now < (standing.limit?.untilMs ?? -Infinity) ? standing.limit : undefined;
    if (reach === 'account') {
      this.#limitedUntilMs = Math.max(this.#limitedUntilMs, untilMs);
    } else if (limit !== undefined && (limit.certain || reach === 'caller')) {
      if (!limit.certain || reach === 'model') limit.untilMs = Math.max(limit.untilMs, untilMs);
      limit.turns.failed(use.tenantId, longerPauseMs(limit.turns, maxCoolingMs), now);
    } else if (reach === 'model' || isSecond(before, use, now - suspicionMs)) {
      const turns = this.#turns(0, now);
      standing.limit = { untilMs, born: this.#verdicts, certain: reach === 'model', turns };
    } else {
      return { forAll: false, othersServed: own, ended };
    }
    return { forAll: true, othersServed: own, ended };
  }

  refused(
    use: AccountUse,
    status: number | undefined,
    ofAccount = status !== undefined && status >= 400 && status !== 403,
  ): AccountScope | undefined {
    const now = this.#clock.monotonic();
    const standing = this.#modelOf(use.model);
    if (use.probe) standing.limit?.turns.giveBack(use.tenantId);
    if (ofAccount) return this.#refuseAll(use, status, now);
    const { refusedRestMs, suspicionMs } = this.#options;
    const tenant = tenantOf(standing, use.tenantId);
    const again = isRefused(tenant, now);
    tenant.refusals = again ? tenant.refusals + (use.probe ? 1 : 0) : 1;
    tenant.refusedStatus = status;
    tenant.retryAtMs = now + refusedRestMs;
    tenant.servedAtMs = -Infinity;
    this.#refusedAtMs.set(use.tenantId, now);
    this.#note(tenant.retryAtMs + FORGET_MS);
    const suspicion = { tenantId: use.tenantId, model: use.model, atMs: now };
    const onModel = standing.faultSuspicion;
    const onAny = this.#faultSuspicion;
    standing.faultSuspicion = suspicion;
    this.#faultSuspicion = suspicion;
    for (const fault of [this.#fault, standing.fault])
      fault?.turns.failed(use.tenantId, longerPauseMs(fault.turns, refusedRestMs), now);
    if (this.#fault !== undefined) return undefined;
    const begins = standing.fault === undefined && isSecond(onModel, use, now - suspicionMs);
    if (begins) standing.fault = this.#faultOf(status, false, now);
    const acrossModels = isSecond(onAny, use, now - suspicionMs) && onAny?.model !== use.model;
    if (acrossModels || (begins && this.#modelsRefused() > 1)) {
      this.#fault = this.#faultOf(status, false, now);
      return WHOLE;
    }
    if (begins) return { model: use.model };
    return standing.fault === undefined && use.probe && tenant.refusals === 2
      ? { model: use.model, tenantId: use.tenantId }
      : undefined;
  }

  secretMissing(use: AccountUse): AccountScope | undefined {
    return this.#refuseAll(use, undefined, this.#clock.monotonic());
  }

  served(use: AccountUse): AccountScope | undefined {
    const now = this.#clock.monotonic();
    const standing = this.#modelOf(use.model);
    const tenant = tenantOf(standing, use.tenantId);
    tenant.servedRun = now - tenant.servedAtMs <= RUN_GAP_MS ? tenant.servedRun + 1 : 1;
    tenant.servedAtMs = now;
    if (this.#calmAtMs === -Infinity) return undefined;
    const { limit, limitSuspicion } = standing;
    if (limitSuspicion !== undefined && limitSuspicion.tenantId !== use.tenantId) standing.limitSuspicion = undefined;
    if (limit !== undefined && !limit.certain && use.born >= limit.born) standing.limit = undefined;
    return this.#accept(use, now);
  }

  accepted(use: AccountUse): AccountScope | undefined {
    if (this.#calmAtMs === -Infinity) return undefined;
    if (use.probe) this.#modelOf(use.model).limit?.turns.giveBack(use.tenantId);
    return this.#accept(use, this.#clock.monotonic());
  }

  inconclusive(use: AccountUse): void {
    if (!use.probe) return;
    const standing = this.#modelOf(use.model);
    const tenant = standing.tenants.get(use.tenantId);
    if (tenant !== undefined) tenant.retryAtMs = Math.min(tenant.retryAtMs, this.#clock.monotonic());
    for (const held of [this.#fault, standing.fault, standing.limit]) held?.turns.giveBack(use.tenantId);
  }

  /** The account's own, whoever calls: the provider said so. */
  #refuseAll(use: AccountUse, status: number | undefined, nowMs: number): AccountScope | undefined {
    this.#note(Infinity);
    if (this.#fault?.certain === true) {
      this.#fault.turns.failed(use.tenantId, this.#options.refusedRestMs, nowMs);
      return undefined;
    }
    const begins = this.#fault === undefined;
    this.#fault = this.#faultOf(status, true, nowMs);
    return begins ? WHOLE : undefined;
  }

  /** The provider took the account for this call: what refused it is over, for all where it was for all. */
  #accept(use: AccountUse, nowMs: number): AccountScope | undefined {
    const standing = this.#modelOf(use.model);
    const tenant = standing.tenants.get(use.tenantId);
    let ended: AccountScope | undefined;
    if (tenant !== undefined && use.probe && tenant.refusals > 0) {
      if (tenant.refusals > 1) ended = { model: use.model, tenantId: use.tenantId };
      tenant.refusals = 0;
    }
    for (const suspicion of [standing.faultSuspicion, this.#faultSuspicion])
      if (suspicion !== undefined && suspicion.tenantId !== use.tenantId) {
        if (suspicion === standing.faultSuspicion) standing.faultSuspicion = undefined;
        if (suspicion === this.#faultSuspicion) this.#faultSuspicion = undefined;
      }
    if (standing.fault !== undefined && use.born >= standing.fault.born) {
      standing.fault = undefined;
      ended = { model: use.model };
    }
    if (this.#fault !== undefined && use.born >= this.#fault.born && (use.probe || !this.#fault.certain)) {
      this.#fault = undefined;
      this.#calmAtMs = nowMs + FORGET_MS;
      ended = WHOLE;
    }
    return ended;
  }

  #modelsRefused(): number {
    let refused = 0;
    for (const { fault } of this.#models.values()) if (fault !== undefined) refused += 1;
    return refused;
  }

  #faultOf(status: number | undefined, certain: boolean, nowMs: number): Fault {
    // A refusal by suspicion is tried again at once, by somebody who did not meet it.
    const restMs = certain ? this.#options.refusedRestMs : 0;
    return { status, sinceMs: nowMs, born: this.#verdicts, certain, turns: this.#turns(restMs, nowMs) };
  }

  #turns(restMs: number, nowMs: number): ProbeTurns {
    return new ProbeTurns({ probeTimeoutMs: this.#options.probeTimeoutMs, takeoverMs: TAKEOVER_MS }, restMs, nowMs);
  }

  /** A verdict was heard that may hold somebody back until then. */
  #note(untilMs: number): void {
    this.#verdicts += 1;
    this.#calmAtMs = Math.max(this.#calmAtMs, untilMs);
  }

  /** Whether nothing rests; what was suspected before is forgotten then. */
  #isCalm(nowMs: number): boolean {
    if (nowMs < this.#calmAtMs) return false;
    if (this.#calmAtMs === -Infinity) return true;
    this.#calmAtMs = -Infinity;
    this.#fault = undefined;
    this.#faultSuspicion = undefined;
    for (const standing of this.#models.values()) {
      standing.limit = undefined;
      standing.fault = undefined;
      standing.limitSuspicion = undefined;
      standing.faultSuspicion = undefined;
    }
    return true;
  }

  #modelOf(model: string): ModelStanding {
    let standing = this.#models.get(model);
    if (standing === undefined) {
      standing = {
        tenants: new RecentMap(this.#options.maxTenants),
        limit: undefined,
        fault: undefined,
        limitSuspicion: undefined,
        faultSuspicion: undefined,
      };
      this.#models.set(model, standing);
    }
    return standing;
  }

  #epochOf(monotonicMs: number): number {
    return this.#clock.now() + (monotonicMs - this.#clock.monotonic());
  }
}

function tenantOf({ tenants }: ModelStanding, tenantId: string): TenantStanding {
  let tenant = tenants.get(tenantId);
  if (tenant === undefined) {
    tenant = {
      servedAtMs: -Infinity,
      servedRun: 0,
      limitedUntilMs: -Infinity,
      refusals: 0,
      refusedStatus: undefined,
      retryAtMs: -Infinity,
    };
    tenants.set(tenantId, tenant);
  }
  return tenant;
}

/**
 * Whether a tenant is being served as if there were no limit: a provider that limits the account would have refused one
 * of so many calls.
 */
function othersServed({ tenants }: ModelStanding, nowMs: number): boolean {
  for (const [, { servedRun, servedAtMs }] of tenants.entries())
    if (servedRun >= RUN && nowMs - servedAtMs <= RUN_GAP_MS) return true;
  return false;
}

function isRefused({ refusals, retryAtMs }: TenantStanding, nowMs: number): boolean {
  return refusals > 0 && nowMs < retryAtMs + FORGET_MS;
}

function longerPauseMs({ restMs }: ProbeTurns, mostMs: number): number {
  return Math.min(Math.max(FIRST_PAUSE_MS, 2 * restMs), mostMs);
}

/** Another tenant met the same before, lately, and nobody else was served since. */
function isSecond(before: Suspicion | undefined, { tenantId }: AccountUse, sinceMs: number): boolean {
  return before !== undefined && before.tenantId !== tenantId && before.atMs >= sinceMs;
}
