import { BUCKETS, slotOf } from './event-window.ts';

/** No row. */
export const NONE = -1;
/** Parties that are remembered at most; beyond it the one heard of least recently is forgotten. */
export const MAX_PARTIES = 20_000;
/** What an idle party left behind may be used for a new one after this. */
const KEEP_MS = 600_000;
/** A party whose last call is not older than this has a say in whether the others are warned. */
export const RECENT_MS = 2_500;
/** Who was heard of within this time is not moved to the front once more. */
const GRAIN_MS = 100;
/** A party with so many failures in a row fails now. */
const FAILING_RUN = 2;
const FIRST_ROWS = 8;
const FULL = 0xffff;

/** Where the breaker of one party stands. From `half_open` on, its calls from before do not count. */
export const KIND = { closed: 0, careful: 1, half_open: 2, open: 3 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

/** What a party is counted as; the two last say whether it was heard of lately enough to be counted at all. */
const EVIDENCE = 1;
const FAILING = 2;
const ACTIVE = 4;
const NOT_CLOSED = 8;
const OPEN = 16;
const IN_RECENT = 32;
const IN_ACTIVE = 64;

/** Calls that find out whether the provider is well; each has a place until this time on the monotonic clock. */
export interface Probe {
  readonly expiresAtMs: number;
}

export interface Probes {
  readonly out: Set<Probe>;
  succeeded: number;
}

/**
 * What a breaker knows of each party: verdicts in ten sub-windows, the run of failures, the last success. Rows are
 * numbers into typed arrays, about 150 bytes a party with its place in the map, because there may be thousands for
 * each model; they stand in a list by when they were heard of, so that what falls out of a horizon is found at
 * its end. Nothing here looks at all parties. Pure: times, on a monotonic clock, are parameters.
 */
export class Parties {
  #windowMs: number;
  #activeMs: number;
  readonly #rowOf = new Map<string, number>();
  readonly #names: string[] = [];
  #latestMs = -Infinity;
  /** The sub-window that is filled now. */
  #bucket = -Infinity;
  #bucketFromMs = -Infinity;
  #bucketUntilMs = -Infinity;
  #newest = NONE;
  #oldest = NONE;
  /** The oldest that is within each horizon. */
  #recentEdge = NONE;
  #activeEdge = NONE;

  #newer = new Int32Array(FIRST_ROWS);
  #older = new Int32Array(FIRST_ROWS);
  #counted = new Uint8Array(FIRST_ROWS);
  #kind = new Uint8Array(FIRST_ROWS);
  #run = new Uint32Array(FIRST_ROWS);
  #born = new Uint32Array(FIRST_ROWS);
  #touchedAt = new Float64Array(FIRST_ROWS);
  #verdictAt = new Float64Array(FIRST_ROWS);
  #failedAt = new Float64Array(FIRST_ROWS);
  #okAt = new Float64Array(FIRST_ROWS);
  #retryAt = new Float64Array(FIRST_ROWS);
  /** Calls of each sub-window, then failures. */
  #cells = new Uint16Array(FIRST_ROWS * 2 * BUCKETS);

  /** Probes of those that are half open or careful. */
  readonly probes = new Map<number, Probes>();
  /** Parties heard of within `RECENT_MS` that have verdicts or are not closed, and of these the ones that fail. */
  evidence = 0;
  failing = 0;
  /** Parties heard of within the longer horizon that have verdicts or are not closed; not closed; of these, open. */
  active = 0;
  notClosed = 0;
  open = 0;

  /** @param activeMs how long a silent party is still counted, at least the window. */
  constructor(windowMs: number, activeMs: number) {
    this.#windowMs = windowMs;
    this.#activeMs = Math.max(activeMs, RECENT_MS);
  }

  get size(): number {
    return this.#rowOf.size;
  }

  /** The latest time that was heard of: as good as now wherever somebody was heard of lately. */
  get latestMs(): number {
    return this.#latestMs;
  }

  /** Row of a party, or `NONE`. */
  find(party: string): number {
    return this.#rowOf.get(party) ?? NONE;
  }

  nameOf(row: number): string {
    return this.#names[row] as string;
  }

  kindOf(row: number): Kind {
    return this.#kind[row] as Kind;
  }

  /** Grows whenever earlier calls of the row stop counting, also where another party takes it over. */
  bornOf(row: number): number {
    return this.#born[row] as number;
  }

  retryAtOf(row: number): number {
    return this.#retryAt[row] as number;
  }

  runOf(row: number): number {
    return this.#run[row] as number;
  }

  okAtOf(row: number): number {
    return this.#okAt[row] as number;
  }

  /** The party is one of `active`. */
  isCounted(row: number): boolean {
    return ((this.#counted[row] as number) & ACTIVE) !== 0;
  }

  /** The party has no evidence of its own within the window. */
  isCold(row: number, nowMs: number): boolean {
    return nowMs - Math.max(this.#verdictAt[row] as number, this.#okAt[row] as number) > this.#windowMs;
  }

  /** At least half of the other parties that were heard of lately fail, and no fewer than `least`. Each counts once. */
  othersFail(row: number, least: number): boolean {
    const own = this.#counted[row] as number;
    const failing = this.failing - ((own & FAILING) >> 1);
    return failing >= least && 2 * failing >= this.evidence - (own & EVIDENCE);
  }

  /** The party is heard of: its row, made where it has none. */
  touch(party: string, nowMs: number): number {
    const row = this.#rowOf.get(party) ?? this.#make(party, nowMs);
    this.touchRow(row, nowMs);
    return row;
  }

  touchRow(row: number, nowMs: number): void {
    this.#moveToFront(row, nowMs);
    this.#recount(row, nowMs);
  }

  /** @returns whether what it is counted as may have changed by it. */
  #moveToFront(row: number, nowMs: number): boolean {
    this.roll(nowMs);
    const lately = nowMs - (this.#touchedAt[row] as number) < GRAIN_MS;
    if (lately && ((this.#counted[row] as number) & (IN_RECENT | IN_ACTIVE)) === (IN_RECENT | IN_ACTIVE)) return false;
    this.#touchedAt[row] = nowMs;
    if (row !== this.#newest) {
      this.#unlink(row);
      this.#link(row);
    }
    if (this.#recentEdge === NONE) this.#recentEdge = row;
    if (this.#activeEdge === NONE) this.#activeEdge = row;
    this.#counted[row] = (this.#counted[row] as number) | IN_RECENT | IN_ACTIVE;
    return true;
  }

  /** Takes those out of the counts that were not heard of for too long. */
  roll(nowMs: number): void {
    this.#latestMs = nowMs;
    while (this.#recentEdge !== NONE && (this.#touchedAt[this.#recentEdge] as number) < nowMs - RECENT_MS) {
      const row = this.#recentEdge;
      this.#count(row, (this.#counted[row] as number) & ~(EVIDENCE | FAILING | IN_RECENT));
      this.#recentEdge = this.#newer[row] as number;
    }
    while (this.#activeEdge !== NONE && (this.#touchedAt[this.#activeEdge] as number) < nowMs - this.#activeMs) {
      this.#count(this.#activeEdge, 0);
      this.#activeEdge = this.#newer[this.#activeEdge] as number;
    }
  }

  /** Another state; calls from before it do not count, except between closed and careful. */
  become(row: number, kind: Kind, nowMs: number): void {
    if (kind >= KIND.half_open || this.kindOf(row) >= KIND.half_open) this.#born[row] = this.bornOf(row) + 1;
    this.#kind[row] = kind;
    if (kind === KIND.half_open || kind === KIND.careful) this.probes.set(row, { out: new Set(), succeeded: 0 });
    else this.probes.delete(row);
    this.#recount(row, nowMs);
  }

  openUntil(row: number, retryAtMs: number, nowMs: number): void {
    this.#retryAt[row] = retryAtMs;
    this.become(row, KIND.open, nowMs);
  }

  /** The provider serves the party; what was before is forgotten with `forget`. */
  served(row: number, nowMs: number, forget: boolean): void {
    this.#okAt[row] = nowMs;
    if (!forget) return;
    this.#run[row] = 0;
    this.#verdictAt[row] = nowMs;
    this.#cells.fill(0, row * 2 * BUCKETS, (row + 1) * 2 * BUCKETS);
  }

  /** The party is heard of by a verdict. */
  note(row: number, failed: boolean, nowMs: number): void {
    const known = !this.isCold(row, nowMs);
    const moved = this.#moveToFront(row, nowMs);
    this.#rollCells(row, nowMs);
    this.#verdictAt[row] = nowMs;
    const cell = row * 2 * BUCKETS + slotOf(this.#bucket);
    const calls = this.#cells[cell] as number;
    // A party that fills a cell has the share that it had by then.
    if (calls < FULL) {
      this.#cells[cell] = calls + 1;
      if (failed) this.#cells[cell + BUCKETS] = (this.#cells[cell + BUCKETS] as number) + 1;
    }
    if (failed) {
      this.#run[row] = this.runOf(row) + 1;
      this.#failedAt[row] = nowMs;
    } else {
      this.#okAt[row] = nowMs;
      // One more success of a party that is served changes nothing for anybody.
      if (known && !moved && this.#run[row] === 0) return;
      this.#run[row] = 0;
    }
    this.#recount(row, nowMs);
  }

  /** As of its last verdict, `failurePercent` of at least `minimumCalls` verdicts within the window are failures. */
  failsBy(row: number, failurePercent: number, minimumCalls: number): boolean {
    if ((this.#verdictAt[row] as number) - (this.#failedAt[row] as number) > this.#windowMs) return false;
    const from = row * 2 * BUCKETS;
    let calls = 0;
    let failures = 0;
    for (let cell = from; cell < from + BUCKETS; cell++) {
      calls += this.#cells[cell] as number;
      failures += this.#cells[cell + BUCKETS] as number;
    }
    return calls >= minimumCalls && failures * 100 >= failurePercent * calls;
  }

  /** Rows that are counted as active, the one heard of last first. */
  *activeRows(): Generator<number> {
    if (this.#activeEdge === NONE) return;
    for (let row = this.#newest; row !== NONE; row = this.#older[row] as number) {
      yield row;
      if (row === this.#activeEdge) return;
    }
  }

  /** Other horizons; verdicts are forgotten where the window has another length. */
  configure(windowMs: number, activeMs: number): void {
    if (windowMs !== this.#windowMs) {
      this.#cells.fill(0);
      this.#bucketUntilMs = -Infinity;
    }
    this.#windowMs = windowMs;
    this.#activeMs = Math.max(activeMs, RECENT_MS);
  }

  /** Empties the cells of the sub-windows that have begun since the party's last verdict. */
  #rollCells(row: number, nowMs: number): void {
    const bucketMs = this.#windowMs / BUCKETS;
    if (nowMs >= this.#bucketUntilMs) {
      this.#bucket = Math.floor(nowMs / bucketMs);
      this.#bucketFromMs = this.#bucket * bucketMs;
      this.#bucketUntilMs = this.#bucketFromMs + bucketMs;
    }
    const lastMs = this.#verdictAt[row] as number;
    if (lastMs >= this.#bucketFromMs) return;
    const from = row * 2 * BUCKETS;
    const last = Math.floor(lastMs / bucketMs);
    if (this.#bucket - last >= BUCKETS) this.#cells.fill(0, from, from + 2 * BUCKETS);
    else
      for (let bucket = last + 1; bucket <= this.#bucket; bucket++) {
        this.#cells[from + slotOf(bucket)] = 0;
        this.#cells[from + BUCKETS + slotOf(bucket)] = 0;
      }
  }

  #recount(row: number, nowMs: number): void {
    const within = (this.#counted[row] as number) & (IN_RECENT | IN_ACTIVE);
    const kind = this.kindOf(row);
    const notClosed = kind >= KIND.half_open;
    const run = this.runOf(row);
    const onlyFailed = run > 0 && nowMs - this.okAtOf(row) > this.#windowMs;
    const known = notClosed || !this.isCold(row, nowMs);
    let bits = within;
    if (known && (within & IN_RECENT) !== 0)
      bits |= notClosed || run >= FAILING_RUN || onlyFailed ? EVIDENCE | FAILING : EVIDENCE;
    if (known && (within & IN_ACTIVE) !== 0)
      bits |= ACTIVE | (notClosed ? NOT_CLOSED : 0) | (kind === KIND.open ? OPEN : 0);
    this.#count(row, bits);
  }

  #count(row: number, bits: number): void {
    const before = this.#counted[row] as number;
    if (before === bits) return;
    this.#counted[row] = bits;
    this.evidence += (bits & EVIDENCE) - (before & EVIDENCE);
    this.failing += ((bits & FAILING) - (before & FAILING)) >> 1;
    this.active += ((bits & ACTIVE) - (before & ACTIVE)) >> 2;
    this.notClosed += ((bits & NOT_CLOSED) - (before & NOT_CLOSED)) >> 3;
    this.open += ((bits & OPEN) - (before & OPEN)) >> 4;
  }

  #make(party: string, nowMs: number): number {
    const oldest = this.#oldest;
    const full = this.size >= MAX_PARTIES;
    const row =
      oldest !== NONE && (full || (this.#touchedAt[oldest] as number) < nowMs - KEEP_MS)
        ? this.#forget(oldest)
        : this.#add();
    this.#names[row] = party;
    this.#rowOf.set(party, row);
    this.#kind[row] = KIND.closed;
    this.#run[row] = 0;
    this.#touchedAt[row] = nowMs;
    this.#verdictAt[row] = -Infinity;
    this.#failedAt[row] = -Infinity;
    this.#okAt[row] = -Infinity;
    this.#cells.fill(0, row * 2 * BUCKETS, (row + 1) * 2 * BUCKETS);
    this.#link(row);
    return row;
  }

  #add(): number {
    const row = this.size;
    if (row < this.#kind.length) return row;
    // Small steps: with doubling, half of the memory could be for nobody.
    const rows = Math.min(MAX_PARTIES, Math.ceil(row * 1.25) + FIRST_ROWS);
    this.#newer = grown(this.#newer, new Int32Array(rows));
    this.#older = grown(this.#older, new Int32Array(rows));
    this.#counted = grown(this.#counted, new Uint8Array(rows));
    this.#kind = grown(this.#kind, new Uint8Array(rows));
    this.#run = grown(this.#run, new Uint32Array(rows));
    this.#born = grown(this.#born, new Uint32Array(rows));
    this.#touchedAt = grown(this.#touchedAt, new Float64Array(rows));
    this.#verdictAt = grown(this.#verdictAt, new Float64Array(rows));
    this.#failedAt = grown(this.#failedAt, new Float64Array(rows));
    this.#okAt = grown(this.#okAt, new Float64Array(rows));
    this.#retryAt = grown(this.#retryAt, new Float64Array(rows));
    this.#cells = grown(this.#cells, new Uint16Array(rows * 2 * BUCKETS));
    return row;
  }

  #forget(row: number): number {
    this.#count(row, 0);
    this.#unlink(row);
    this.probes.delete(row);
    this.#rowOf.delete(this.nameOf(row));
    this.#born[row] = this.bornOf(row) + 1;
    return row;
  }

  #link(row: number): void {
    this.#older[row] = this.#newest;
    this.#newer[row] = NONE;
    if (this.#newest === NONE) this.#oldest = row;
    else this.#newer[this.#newest] = row;
    this.#newest = row;
  }

  #unlink(row: number): void {
    const newer = this.#newer[row] as number;
    const older = this.#older[row] as number;
    if (row === this.#recentEdge) this.#recentEdge = newer;
    if (row === this.#activeEdge) this.#activeEdge = newer;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
    if (older === NONE) this.#oldest = newer;
    else this.#newer[older] = newer;
  }
}

function grown<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
