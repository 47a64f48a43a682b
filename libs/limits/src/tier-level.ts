import type { Level, QuotaWindow } from '@sluice/contracts';
import { calendarOf } from './calendar.ts';
import { LevelState, type QuotaState } from './level-state.ts';
import { WindowLoan } from './window-loan.ts';

/** Calls for which a level asks at once, to begin with and at most. */
export const FIRST_BATCH = 8;
const LAST_BATCH = 4_096;
/** A batch that lasts for less than this was too small. Milliseconds. */
const SHORT_LIVED_MS = 100;
const METER_CODE = { total_tokens: 0, input_tokens: 1, output_tokens: 2, cost_nanousd: 3 } as const;

/** What a level asks for beyond its need, at most. */
export interface Wants {
  requests: number;
  tokens: number;
  slots: number;
}

/** What a level knows of the tenant that it belongs to. */
export interface LevelOwner {
  readonly id: string;
  /** How often the authority was lost: it may have lost its data with it. */
  readonly losses: number;
}

/**
 * One level's counters as a gateway of several sees them. What it inherits mirrors the whole: the authority's
 * counters as last heard, moved on by what happened here. Beside it stands what this gateway was lent of them and
 * may spend alone.
 */
export class TierLevel<Owner extends LevelOwner = LevelOwner> extends LevelState {
  readonly key: string;
  readonly tenant: Owner;
  requestsFree = 0;
  tokensFree = 0;
  slotsFree = 0;
  /** Of this gateway's own calls. */
  inFlight = 0;
  queued = 0;
  /** Slots and windows of which the authority was last told. */
  slotsSent = 0;
  windowsSent: readonly QuotaState[] = [];
  /** The authority's counters have been heard. */
  loaded = false;
  /** What is free comes from the local share of the limits, not from the authority. */
  share = false;
  /** Something changed here that the authority should hear. */
  dirty = false;
  /** Everything that is free goes back with the next report. */
  handIn = false;
  batch = FIRST_BATCH;
  lentAtMs = -Infinity;
  usedAtMs = -Infinity;
  lowRequests = -Infinity;
  lowTokens = -Infinity;
  typicalTokens = 0;
  /**
   * Size and rate of the local share of the buckets, and until when they were filled; which version of the limits was
   * divided, and for each window that has a share the threshold that was.
   */
  readonly shares = {
    requests: 0,
    tokens: 0,
    requestsPerMs: 0,
    tokensPerMs: 0,
    atMs: 0,
    slots: 0,
    queued: 0,
    version: -1,
    windows: new Map<QuotaState, number>(),
  };
  readonly wants: Wants = { requests: 0, tokens: 0, slots: 0 };
  #definition = '';
  #definedVersion = -1;

  constructor(level: Level, id: string, tenant: Owner) {
    super(level, id, tenant.id);
    this.key = `${level.charAt(0)}:${id}`;
    this.tenant = tenant;
  }

  override apply(...args: Parameters<LevelState['apply']>): boolean {
    const before = this.version;
    const inForce = this.windows;
    const changed = super.apply(...args);
    if (before === this.version) return changed;
    for (const window of this.windows) {
      window.loan ??= new WindowLoan();
      // Calls may have ended here that another gateway, which knew of the window before, expects to find in it.
      if (this.loaded && !inForce.includes(window)) window.loan.late = true;
    }
    return changed;
  }

  /** The level's limits as the scripts read them; `stale` makes anew what depends on the date. */
  definition(nowMs: number, stale: boolean): string {
    if (stale || this.#definedVersion !== this.version) {
      this.#definedVersion = this.version;
      const { requests, tokens, bulkhead } = this;
      this.#definition = JSON.stringify({
        k: this.key,
        r: requests !== undefined && [requests.capacity, requests.ratePerMs],
        t: tokens !== undefined && [tokens.capacity, tokens.ratePerMs],
        f: Number.isFinite(bulkhead.maxInFlight) ? bulkhead.maxInFlight : -1,
        q: Number.isFinite(bulkhead.maxQueued) ? bulkhead.maxQueued : -1,
        w: this.windows.map((window) => this.#windowDefinition(window, nowMs)),
      });
    }
    return this.#definition;
  }

  #windowDefinition({ definition, threshold, cut }: QuotaState, nowMs: number): object {
    const base = {
      n: windowName(definition),
      m: METER_CODE[definition.meter],
      l: Number.isFinite(threshold) ? threshold : -1,
      g: cut,
    };
    const { span } = definition;
    if (span.kind === 'rolling') {
      const stepMs = Math.ceil((span.seconds * 1000) / span.steps);
      return { ...base, s: [stepMs, stepMs * (span.steps + 1)] };
    }
    const calendar = calendarOf(span.timeZone ?? this.timeZone, span.period);
    const current = calendar.periodAt(nowMs);
    const next = calendar.periodAt(current.endMs);
    return {
      ...base,
      p: [
        calendar.periodAt(current.startMs - 1).startMs,
        current.startMs,
        next.startMs,
        next.endMs,
        calendar.periodAt(next.endMs).endMs,
      ],
    };
  }

  /** Sets what to ask for; after a batch that did not last, twice as much. */
  aim(leaseShare: number, nowMs: number): Wants {
    if (nowMs - this.lentAtMs < SHORT_LIVED_MS) this.batch = Math.min(LAST_BATCH, this.batch * 2);
    const most = leaseShare === 0 ? 0 : this.batch;
    const { requests, tokens, bulkhead, wants } = this;
    wants.requests = requests === undefined ? 0 : Math.min(most, Math.floor(requests.capacity * leaseShare));
    wants.tokens =
      tokens === undefined
        ? 0
        : Math.min(Math.ceil(most * this.typicalTokens), Math.floor(tokens.capacity * leaseShare));
    wants.slots = Number.isFinite(bulkhead.maxInFlight)
      ? Math.min(most, Math.floor(bulkhead.maxInFlight * leaseShare))
      : 0;
    return wants;
  }

  /** True while this gateway holds anything here, or has something to tell. */
  get holds(): boolean {
    if (
      this.dirty ||
      this.share ||
      this.inFlight > 0 ||
      this.queued > 0 ||
      this.slotsFree > 0 ||
      this.requestsFree !== 0 ||
      this.tokensFree !== 0
    )
      return true;
    for (const { loan } of this.windows)
      if (loan !== undefined && (loan.free > 0 || loan.out > 0 || loan.pending > 0)) return true;
    return false;
  }

  /** True while something is lent and not spent. */
  get hasFree(): boolean {
    if (this.requestsFree > 0 || this.tokensFree > 0 || this.slotsFree > 0) return true;
    for (const { loan } of this.windows) if (loan !== undefined && loan.free > 0) return true;
    return false;
  }

  /** Forgets what was lent: the authority has given it up, or cannot be asked. Debt stays. */
  dropFree(): void {
    this.requestsFree = Math.min(0, this.requestsFree);
    this.tokensFree = Math.min(0, this.tokensFree);
    this.slotsFree = 0;
    for (const { loan } of this.windows) if (loan !== undefined) loan.free = 0;
  }
}

/** How the scripts call a window within its level. */
export function windowName({ id, meter }: QuotaWindow): string {
  return `${id}:${meter}`;
}
