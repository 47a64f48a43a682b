import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AuditedLevel,
  Clock,
  CorrectionCounts,
  CountedRuns,
  LevelRef,
  LimitScope,
  LimitStore,
} from '@sluice/contracts';
import { questionOf, type LevelQuestion } from './audit-levels.ts';
import type { LedgerClient } from './ledger-client.ts';

/** The longest that calls wait for the ledger where a window's past is not known. */
const WAIT_MS = 1_500;
/** Between two questions about calls that the ledger does not hold yet. */
const NOT_HELD_MS = 250;
/** Between two questions to a ledger that does not answer. */
const ASK_AGAIN_MS = 5_000;
const LEVELS_AT_ONCE = 50;
const TICK_MS = 1_000;
const CORRECTIONS_EVERY_MS = 15_000;
/** A clock that is corrected in small steps makes less of a difference in a tick. */
const STEP_MS = 500;

/**
 * Holds the quota counters to what the ledger holds. A comparison takes the counters and the list of calls that are in
 * them in one moment, asks the ledger for the sum of those calls, and adds the difference: what is counted meanwhile,
 * runs, or waits in the outbox is in neither side and so counts exactly once. Compared is
 * - a window whose past is not known: it is new, has another meter, was cut otherwise, or came in force again;
 * - what a correction was booked for;
 * - everything when the clock was set.
 */
export interface LedgerAudit {
  /**
   * For a call of this scope: undefined when all of its windows know their past; else resolves when they do, when
   * the ledger does not answer, or 1.5 s after the first call asked. Then the windows count what this gateway knows
   * itself, calls go on, and the ledger is asked until it answers.
   */
  found(scope: LimitScope): Promise<void> | undefined;
  /** Compares everything that is wanted now, once. */
  settled(): Promise<void>;
  /** Looks at the clock. */
  tick(): void;
  /** Asks which corrections there are. */
  pollCorrections(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface LedgerAuditDeps {
  readonly limits: LimitStore;
  readonly ledger: Pick<LedgerClient, 'audit' | 'corrections'>;
  readonly gatewayId: string;
  readonly clock: Clock;
  /** Which of this gateway's calls are in the counters of this process; undefined while they cannot be compared. */
  readonly counted: () => Omit<CountedRuns, 'gateway_id'> | undefined;
  /** The ledger did not answer, or (without an error) answers again. */
  readonly onAnswer?: (error?: unknown) => void;
  /** How long calls wait, and the pauses between two questions; milliseconds. */
  readonly waitMs?: number;
  readonly askAgainMs?: number;
  readonly notHeldMs?: number;
}

interface Wanted {
  readonly ref: LevelRef;
  /** An open question about the level does not do: it was made by another clock. */
  readonly anew: boolean;
}

export function createLedgerAudit(deps: LedgerAuditDeps): LedgerAudit {
  const { limits, ledger, gatewayId, clock, counted, onAnswer } = deps;
  const { waitMs = WAIT_MS, askAgainMs = ASK_AGAIN_MS, notHeldMs = NOT_HELD_MS } = deps;
  const wanted = new Map<string, Wanted>();
  /** Asked, and not answered in full. */
  const open = new Map<string, LevelQuestion>();
  const waitedSince = new Map<string, number>();
  /** How many corrections of each level are in its counters. */
  const corrected = new Map<string, number>();
  const ended = new AbortController();
  let answers = true;
  let running: Promise<void> | undefined;
  let round = Promise.withResolvers<void>();
  let offsetMs = clock.now() - clock.monotonic();
  const timers: NodeJS.Timeout[] = [];

  const want = (levels: Iterable<LevelRef>, anew = false): void => {
    for (const ref of levels) {
      const key = keyOf(ref);
      const before = wanted.get(key);
      wanted.set(key, { ref, anew: anew || before?.anew === true });
    }
    if (wanted.size > 0) running ??= run().finally(() => (running = undefined));
  };

  /** Takes the counters of what is wanted; false while they cannot be compared. */
  const begin = async (batch: readonly Wanted[]): Promise<boolean> => {
    // In one turn: between the two nothing may be counted.
    const taken = limits.audit(batch.map(({ ref }) => ref));
    const own = counted();
    if (own === undefined) return false;
    const nowMs = clock.now();
    for (const level of await taken) {
      const key = keyOf(level);
      const before = open.get(key);
      if (before?.covers(level.windows) === true && wanted.get(key)?.anew !== true) continue;
      open.set(key, questionOf(level, runsOf(level, { gateway_id: gatewayId, ...own }), nowMs));
    }
    for (const { ref } of batch) {
      const now = wanted.get(keyOf(ref));
      if (now !== undefined && batch.includes(now)) wanted.delete(keyOf(ref));
    }
    return true;
  };

  const ask = async (): Promise<void> => {
    const questions = [...open.values()].slice(0, LEVELS_AT_ONCE);
    if (questions.length === 0) return;
    const { levels } = await ledger.audit({ levels: questions.map(({ asked }) => asked) });
    if (levels.length !== questions.length)
      throw new Error(`${questions.length} levels were asked for and ${levels.length} came`);
    const amendments = questions.map((question, i) => question.amendmentFor(levels[i] as (typeof levels)[number]));
    const made = new Set((await limits.amend(amendments)).map(keyOf));
    for (const [i, { ref }] of questions.entries()) {
      const key = keyOf(ref);
      if (made.has(key) && levels[i]?.held !== true) {
        // Behind the others.
        const question = open.get(key) as LevelQuestion;
        open.delete(key);
        open.set(key, question);
        continue;
      }
      open.delete(key);
      if (!made.has(key)) want([ref], true);
    }
  };

  const answered = (error?: unknown): void => {
    if ((error === undefined) !== answers) onAnswer?.(error);
    answers = error === undefined;
  };

  const nextRound = (): void => {
    round.resolve();
    round = Promise.withResolvers();
  };

  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: ended.signal, ref: false }).catch(() => undefined);

  const run = async (): Promise<void> => {
    while ((wanted.size > 0 || open.size > 0) && !ended.signal.aborted) {
      try {
        const begun = await begin([...wanted.values()].slice(0, LEVELS_AT_ONCE));
        await ask();
        answered();
        nextRound();
        if (!begun || open.size > 0) await pause(notHeldMs);
      } catch (error) {
        answered(error);
        nextRound();
        await pause(askAgainMs);
      }
    }
  };

  const wait = async (scope: LimitScope, levels: readonly LevelRef[]): Promise<void> => {
    want(levels);
    const sinceMs = Math.min(...levels.map((ref) => firstAskedMs(keyOf(ref))));
    const leftMs = sinceMs + waitMs - clock.monotonic();
    if (leftMs <= 0 || !answers) return;
    const over = pause(leftMs).then(() => 'over' as const);
    for (;;) {
      if ((await Promise.race([round.promise, over])) === 'over' || !answers) return;
      if ((await limits.unfounded(scope)).length > 0) continue;
      for (const ref of levels) waitedSince.delete(keyOf(ref));
      return;
    }
  };

  /** When calls began to wait for a level; forgotten when its past is known. */
  const firstAskedMs = (key: string): number => {
    let atMs = waitedSince.get(key);
    if (atMs === undefined) waitedSince.set(key, (atMs = clock.monotonic()));
    return atMs;
  };

  const audit: LedgerAudit = {
    found(scope) {
      const levels = limits.unfounded(scope);
      if (levels instanceof Promise)
        return levels.then((later) => (later.length === 0 ? undefined : wait(scope, later)));
      return levels.length === 0 ? undefined : wait(scope, levels);
    },
    async settled() {
      while (running !== undefined) await running;
    },
    tick() {
      const now = clock.now() - clock.monotonic();
      const stepped = Math.abs(now - offsetMs) > STEP_MS;
      offsetMs = now;
      if (stepped) want(limits.levelsWithWindows(), true);
    },
    async pollCorrections() {
      let counts: CorrectionCounts;
      try {
        counts = await ledger.corrections();
        answered();
      } catch (error) {
        answered(error);
        return;
      }
      const known = new Map(limits.levelsWithWindows().map((ref) => [keyOf(ref), ref]));
      for (const [key, count] of countByLevel(counts)) {
        const ref = known.get(key);
        // A level that no call has named yet is looked at when one has.
        if (ref === undefined || corrected.get(key) === count) continue;
        corrected.set(key, count);
        want([ref]);
      }
    },
    start() {
      timers.push(
        setInterval(() => audit.tick(), TICK_MS),
        setInterval(() => void audit.pollCorrections(), CORRECTIONS_EVERY_MS),
      );
      for (const timer of timers) timer.unref();
      void audit.pollCorrections();
    },
    async stop() {
      ended.abort();
      for (const timer of timers) clearInterval(timer);
      await running;
    },
  };
  return audit;
}

/** The calls in a level's counters: as a shared store knows them of each gateway, or as this process knows its own. */
function runsOf({ counted }: AuditedLevel, own: CountedRuns): CountedRuns[] {
  if (counted === undefined) return [own];
  return counted.map(({ gatewayId, epoch, runs }) => ({
    gateway_id: gatewayId,
    epoch,
    runs: runs.map(([from, to]): [number, number] => [from, to]),
    earlier: gatewayId === own.gateway_id ? own.earlier : [],
  }));
}

const keyOf = ({ level, id }: Pick<LevelRef, 'level' | 'id'>): string => `${level} ${id}`;

function countByLevel({ keys }: CorrectionCounts): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (key: string, count: number): void => void counts.set(key, (counts.get(key) ?? 0) + count);
  for (const { tenant_id, workspace_id, key_id, corrections } of keys) {
    add(`tenant ${tenant_id}`, corrections);
    add(`workspace ${workspace_id}`, corrections);
    add(`key ${key_id}`, corrections);
  }
  return counts;
}
