import type { Clock } from '@sluice/contracts';
import { TenantFault } from './tenant-fault.ts';
import { addUncounted, levelsOf, type CountedOfLevel, type ReplayedCall } from './replayed-calls.ts';
import type { SettledTrack } from './settled-track.ts';
import { book, readHead, readLevel, writeExchange, type Judged } from './tier-exchange.ts';
import { windowName, type TierLevel } from './tier-level.ts';

/** Requests and levels that one exchange carries at most. */
const MAX_REQUESTS = 64;
const MAX_LEVELS = 64;
/** A tenant whose part of the authority is broken is tried again after so long, milliseconds. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

/**
 * A request that waits for the authority. Called back once: with its verdict, or `lost` when the authority cannot
 * be asked.
 */
export interface Waiting extends Judged {
  decided(verdict: number | 'lost'): void;
}

/** One call of a script: which, on which keys, with what. Gives the script's answer. */
export type SendExchange = (
  script: 'admit' | 'settle',
  tenantId: string,
  levelKeys: readonly string[],
  definitions: string,
  report: string,
) => Promise<string>;

export interface TierTenantDeps {
  readonly clock: Clock;
  readonly send: SendExchange;
  /** Largest part of a bucket or bulkhead that one gateway is lent; 0 lends nothing. */
  readonly leaseShare: number;
  /** What is held is given up for dead when nothing was heard for so long. */
  readonly livenessMs: number;
  /** What the authority has counted of these levels: see `Authority`. */
  counted(
    tenantId: string,
    levels: readonly { readonly key: string; readonly windows: readonly string[] }[],
  ): Promise<readonly CountedOfLevel[]>;
  /** The calls that were settled at this gateway. */
  readonly settled: SettledTrack;
  /** The best guess of the authority's time. */
  serverNow(): number;
  heardServerTime(serverNowMs: number): void;
  /** The authority could not be asked. */
  lost(error: unknown): void;
  /** The authority was asked, and what it holds of this tenant is broken. */
  broken(tenantId: string, error: TenantFault): void;
}

/**
 * All that one gateway has to do with the authority about one tenant. One exchange is under way at a time; what
 * comes up meanwhile goes into the next, so that a flood costs few round trips. An exchange that may or may not
 * have arrived is told again under its own number, and is counted once.
 */
export class TierTenant {
  readonly id: string;
  /** False while the local share decides. */
  online = false;
  /** Until when the authority keeps what was lent; `clock.monotonic()`. */
  validUntilMs = -Infinity;
  heardAtMs = -Infinity;
  /** When the last answer came; what it told is true for then. */
  answeredAtMs = -Infinity;
  /** When a tenant whose part of the authority is broken is tried again, and the wait before; `clock.monotonic()`. */
  retryAtMs = Infinity;
  #retryAfterMs = 0;
  /** How often the authority was lost: it may have lost its data with it. */
  losses = 0;
  /** Exchanges that were begun. */
  exchanges = 0;
  /** Levels at which this gateway holds something. */
  readonly active = new Set<TierLevel>();
  readonly #deps: TierTenantDeps;
  readonly #waiting: Waiting[] = [];
  #replayed: ReplayedCall[] = [];
  #wantsView = new Set<TierLevel>();
  #number = 0;
  #underWay: Promise<void> | undefined;

  constructor(id: string, deps: TierTenantDeps) {
    this.id = id;
    this.#deps = deps;
  }

  get busy(): boolean {
    return this.#underWay !== undefined;
  }

  /** Something changed here that the authority should hear. */
  get hasToTell(): boolean {
    for (const level of this.active) if (level.dirty) return true;
    return false;
  }

  ask(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.pump();
  }

  /** A call of an earlier process; before the next exchange the authority is asked whether it has counted it. */
  replay(call: ReplayedCall): void {
    this.#replayed.push(call);
    for (const level of call.levels) {
      level.dirty = true;
      this.active.add(level);
    }
  }

  /** Hears the whole state of these levels, steps too. */
  async look(levels: readonly TierLevel[]): Promise<void> {
    for (const level of levels) this.#wantsView.add(level);
    this.pump();
    // An exchange that was under way, or that others' requests fill, tells nothing of these levels.
    while (this.busy && levels.some((level) => this.#wantsView.has(level))) await this.#underWay;
    await this.#underWay;
  }

  /** Tells the authority what has changed up to now. */
  async flush(): Promise<void> {
    await this.#underWay;
    this.pump();
    await this.#underWay;
  }

  /**
   * Tells what there is to tell now, in as many exchanges as its levels need. What comes up meanwhile goes with
   * later ones: who waits for this must not wait until a busy tenant is quiet.
   */
  async drain(): Promise<void> {
    for (let left = 1 + Math.ceil(this.active.size / MAX_LEVELS); left > 0; left--) {
      await this.flush();
      if (!this.busy) return;
    }
  }

  /** Begins an exchange when there is a reason for one and none is under way. */
  pump(): void {
    if (this.busy || !this.online) return;
    const asked = this.#waiting.splice(0, MAX_REQUESTS);
    const levels = new Set<TierLevel>();
    for (const request of asked) for (const level of request.levels) levels.add(level);
    const full = this.#wantsView.size > 0;
    for (const level of this.#wantsView) levels.add(level);
    this.#wantsView.clear();
    for (const level of this.active) {
      if (levels.size >= MAX_LEVELS) break;
      if (level.dirty) levels.add(level);
    }
    if (levels.size === 0 && asked.length === 0) return;
    this.#underWay = this.#exchange([...levels], asked, full).finally(() => {
      this.#underWay = undefined;
      this.pump();
    });
  }

  /** Resolves when no exchange is under way. */
  async quiet(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay;
  }

  /** The authority cannot be asked: who waits is told. When it is back, it may know less than this gateway. */
  abandon(): void {
    this.online = false;
    this.losses++;
    this.#wantsView.clear();
    for (const request of this.#waiting.splice(0)) request.decided('lost');
  }

  async #exchange(levels: readonly TierLevel[], asked: readonly Waiting[], full: boolean): Promise<void> {
    const { clock, leaseShare, livenessMs, send, settled } = this.#deps;
    if (this.#replayed.length > 0) {
      try {
        await this.#addReplayed();
      } catch (error) {
        this.#failed(error, levels, asked);
        return;
      }
    }
    const number = ++this.#number;
    this.exchanges++;
    const sentAtMs = clock.monotonic();
    if (sentAtMs >= this.validUntilMs) {
      for (const level of this.active) if (!level.share) level.dropFree();
    }
    for (const level of levels) this.active.add(level);
    const report = writeExchange(levels, asked, {
      number,
      leaseShare,
      monotonicMs: sentAtMs,
      full,
      settled: settled.statement(),
    });
    let numbers: readonly number[];
    try {
      numbers = await this.#ask(send, levels, asked.length > 0, report);
    } catch (error) {
      this.#failed(error, levels, asked);
      return;
    }
    this.#retryAfterMs = 0;
    this.retryAtMs = Infinity;
    const nowMs = clock.monotonic();
    const { serverNowMs, known, verdicts, at } = readHead(numbers);
    this.#deps.heardServerTime(serverNowMs);
    this.validUntilMs = sentAtMs + livenessMs;
    this.heardAtMs = sentAtMs;
    this.answeredAtMs = nowMs;
    asked.forEach((request, i) => verdicts[i] === 0 && book(request));
    let from = at;
    for (const level of levels) from = readLevel(level, numbers, from, number, serverNowMs, nowMs);
    if (!known) for (const level of this.active) if (!levels.includes(level) && level.holds) level.dirty = true;
    asked.forEach((request, i) => request.decided(verdicts[i] ?? 'lost'));
  }

  /** A fault of the link is everybody's; one of what is kept of this tenant is its own. */
  #failed(error: unknown, levels: readonly TierLevel[], asked: readonly Waiting[]): void {
    for (const level of levels) level.dirty = true;
    if (error instanceof TenantFault) this.degrade(error);
    else this.#deps.lost(error);
    for (const request of asked) request.decided('lost');
  }

  /** Goes on with the local share, and is tried again after a wait that doubles. */
  degrade(error: TenantFault): void {
    if (this.#retryAfterMs === 0) this.#deps.broken(this.id, error);
    this.#retryAfterMs = Math.min(LAST_RETRY_MS, Math.max(FIRST_RETRY_MS, 2 * this.#retryAfterMs));
    this.retryAtMs = this.#deps.clock.monotonic() + this.#retryAfterMs;
    this.abandon();
  }

  async #addReplayed(): Promise<void> {
    const calls = this.#replayed;
    const levels = levelsOf(calls);
    const counted = await this.#deps.counted(
      this.id,
      levels.map(({ key, windows }) => ({ key, windows: windows.map(({ definition }) => windowName(definition)) })),
    );
    this.#replayed = this.#replayed.slice(calls.length);
    addUncounted(calls, levels, counted);
  }

  async #ask(
    send: SendExchange,
    levels: readonly TierLevel[],
    judges: boolean,
    report: string,
  ): Promise<readonly number[]> {
    const keys = levels.map(({ key }) => key);
    let serverNowMs = this.#deps.serverNow();
    for (let tries = 0; tries < 3; tries++) {
      const definitions = `[${levels.map((level) => level.definition(serverNowMs, tries > 0)).join(',')}]`;
      const answer = await send(judges ? 'admit' : 'settle', this.id, keys, definitions, report);
      if (answer === 'stale') throw new Error('the limit store has seen a later exchange of this gateway already');
      const words = answer.split(' ');
      if (words[0] !== 'period') return words.map(Number);
      // Its time is in no calendar period that was told: make them for the time that it has.
      serverNowMs = Number(words[1]);
    }
    throw new TenantFault('the calendar periods of a quota window do not hold the time of the limit store');
  }
}
