import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  EventsFrom,
  LEVELS,
  QuotaMeter,
  type CallSettled,
  type CountedRuns,
  type LimitScope,
  type LimitStore,
  type QuotaCheckpoint,
} from '@sluice/contracts';
import { writeFileAtomic } from '@sluice/service-kit';
import type { LedgerUse } from './ledger-use.ts';
import { NumberRuns } from './number-runs.ts';

const FILE = 'quota.json';
const EVERY_MS = 1_000;
/** Between two questions to a ledger that does not answer. */
const ASK_AGAIN_MS = 5_000;

const SavedQuota = z.object({
  /** Every settled call up to here, of this epoch and all earlier ones, is in the counters. */
  epoch: z.int(),
  sequence: z.int(),
  /**
   * Sequences of this epoch beyond it that are in the counters too, one or from-to: calls do not end in the order
   * of their records.
   */
  ahead: z.array(z.union([z.int(), z.tuple([z.int(), z.int()])])),
  /** Set while the ledger's part is missing: the calls that are counted all the same. */
  owed: z.array(EventsFrom).optional(),
  checkpoint: z.object({
    version: z.literal(1),
    savedAtMs: z.number(),
    windows: z.array(
      z.object({
        level: z.enum(LEVELS),
        id: z.string(),
        quota: z.string(),
        meter: QuotaMeter.optional(),
        cut: z.string().optional(),
        steps: z.array(z.tuple([z.number(), z.number()])),
      }),
    ),
  }),
});
type SavedQuota = z.infer<typeof SavedQuota>;

/** Which calls this gateway counts from its own disk. */
export interface CountedHere {
  readonly epoch: number;
  /** First settled sequence on disk of each earlier epoch. */
  readonly firstOnDisk: ReadonlyMap<number, number>;
}

/** Keeps the quota counters on disk, so that an exhausted quota is still exhausted after a kill. */
export interface QuotaKeeper {
  /**
   * Puts the saved counters in force, then adds what the outbox holds beyond them. Before the first admission.
   * Without saved counters, or where the disk lacks calls that they lack, the ledger's part is owed: see
   * `settleOwed`.
   */
  restore(
    settled: Iterable<CallSettled>,
    scopeOf: (event: CallSettled) => LimitScope | undefined,
    here: CountedHere,
  ): Promise<{ restored: boolean; replayed: number }>;
  /**
   * Adds what only the ledger knows, and asks until it answers; harmless when nothing is owed. What is counted
   * meanwhile is not counted twice, whenever the answer comes.
   */
  settleOwed(): Promise<void>;
  /**
   * Which of this gateway's calls are in the counters now; undefined while the ledger's part of lost counters is
   * owed, because they hold less then than these calls.
   */
  countedCalls(): Omit<CountedRuns, 'gateway_id'> | undefined;
  /** A settled call has reached the counters. */
  counted(epoch: number, sequence: number): void;
  start(): void;
  save(): Promise<void>;
  stop(): Promise<void>;
}

export interface QuotaKeeperDeps {
  readonly dir: string;
  readonly limits: LimitStore;
  readonly onFault: (error: unknown) => void;
  /** Absent where the counters do not live in this process. */
  readonly ledger?: LedgerUse;
  /** The ledger did not answer, or (without an error) has answered. */
  readonly onOwed?: (error?: unknown) => void;
}

/**
 * @param dir folder of this gateway's state; one file in it is replaced each second when something was used.
 */
export function createQuotaKeeper({ dir, limits, onFault, ledger, onOwed }: QuotaKeeperDeps): QuotaKeeper {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, FILE);
  let position = { epoch: 0, sequence: 0 };
  /**
   * One call may be long at its end (a client that reads slowly), and all the others end before it: by runs, that
   * is one run.
   */
  const ahead = new NumberRuns();
  let owed: readonly EventsFrom[] | undefined;
  let thisEpoch = 0;
  /** Last sequence on disk of each earlier epoch. */
  const earlier = new Map<number, number>();
  let asking: Promise<void> | undefined;
  const ended = new AbortController();
  let dirty = false;
  let timer: NodeJS.Timeout | undefined;

  const save = async (): Promise<void> => {
    if (!dirty) return;
    dirty = false;
    const saved: SavedQuota = {
      ...position,
      ahead: ahead.runs.map(([from, to]): [number, number] => [from, to]),
      ...(owed === undefined ? {} : { owed: [...owed] }),
      checkpoint: mutable(await limits.checkpoint()),
    };
    await writeFileAtomic(file, JSON.stringify(saved), 0o600);
  };

  const ask = async (): Promise<void> => {
    while (ledger !== undefined && owed !== undefined && !ended.signal.aborted) {
      try {
        const checkpoint = await ledger(owed);
        await limits.restore(checkpoint);
        owed = undefined;
        dirty = true;
        onOwed?.();
        await save();
      } catch (error) {
        (owed === undefined ? onFault : onOwed)?.(error);
        if (owed !== undefined)
          await sleep(ASK_AGAIN_MS, undefined, { signal: ended.signal, ref: false }).catch(() => undefined);
      }
    }
  };

  return {
    async restore(settled, scopeOf, here) {
      const read = readSaved(file, onFault);
      // Counters that are shared are kept by the server; the checkpoint is what this gateway remembers for one that
      // lost its data.
      const shared = limits.kind !== 'memory';
      const saved = read === undefined || (!shared && lacksCalls(read, here)) ? undefined : read;
      owed = ledger === undefined ? undefined : owedAfter(saved, here);
      thisEpoch = here.epoch;
      if (saved !== undefined) {
        await limits.restore(saved.checkpoint);
        position = { epoch: saved.epoch, sequence: saved.sequence };
        for (const run of saved.ahead) {
          if (typeof run === 'number') ahead.add(run);
          else ahead.add(...run);
        }
      }
      let replayed = 0;
      let replayedTo = position;
      for (const event of settled) {
        if (event.epoch < thisEpoch) earlier.set(event.epoch, event.sequence);
        const inCheckpoint =
          event.epoch < position.epoch ||
          (event.epoch === position.epoch && (event.sequence <= position.sequence || ahead.has(event.sequence)));
        if (inCheckpoint && !shared) continue;
        const scope = scopeOf(event);
        if (scope !== undefined) {
          // Whether a shared store has heard of a call, only it knows: the process may have ended between report
          // and checkpoint.
          const counted = !shared ? 'new' : inCheckpoint ? 'saved' : 'kept';
          const origin = { epoch: event.epoch, sequence: event.sequence };
          await limits.replay({
            scope,
            atMs: Date.parse(event.occurred_at),
            usage: event.usage,
            costNanoUsd: event.billed_nanousd,
            origin,
            counted,
          });
          if (!inCheckpoint) replayed += 1;
        }
        if (inCheckpoint) continue;
        replayedTo = { epoch: event.epoch, sequence: event.sequence };
        dirty = true;
      }
      position = replayedTo;
      return { restored: saved !== undefined, replayed };
    },
    settleOwed() {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    countedCalls() {
      if (owed !== undefined) return undefined;
      const runs: [number, number][] = [];
      if (position.epoch === thisEpoch) {
        if (position.sequence > 0) runs.push([1, position.sequence]);
        for (const [from, to] of ahead.runs) runs.push([from, to]);
      }
      return { epoch: thisEpoch, runs, earlier: [...earlier].map(([epoch, last]) => ({ epoch, last })) };
    },
    counted(epoch, sequence) {
      if (epoch > position.epoch) {
        position = { epoch, sequence: 0 };
        ahead.clear();
      }
      if (sequence === position.sequence + 1) position.sequence = ahead.takeFrom(sequence + 1) ?? sequence;
      else if (sequence > position.sequence) ahead.add(sequence);
      dirty = true;
    },
    start() {
      timer = setInterval(() => void save().catch(onFault), EVERY_MS);
      timer.unref();
    },
    save,
    async stop() {
      ended.abort();
      clearInterval(timer);
      await save();
    },
  };
}

/** Calls beyond the saved counters were acknowledged and deleted before they were saved: only the ledger has them. */
function lacksCalls({ epoch, sequence }: SavedQuota, { firstOnDisk }: CountedHere): boolean {
  for (const [of, first] of firstOnDisk)
    if ((of === epoch && first > sequence + 1) || (of > epoch && first > 1)) return true;
  return false;
}

/**
 * What is counted without the ledger: all on disk, and everything from now on. Undefined when the saved counters
 * are whole.
 */
function owedAfter(saved: SavedQuota | undefined, here: CountedHere): EventsFrom[] | undefined {
  const before = saved === undefined ? [...here.firstOnDisk].map(([epoch, from]) => ({ epoch, from })) : saved.owed;
  return before === undefined ? undefined : [...before, { epoch: here.epoch, from: 1 }];
}

function mutable(checkpoint: QuotaCheckpoint): SavedQuota['checkpoint'] {
  return {
    ...checkpoint,
    windows: checkpoint.windows.map((window) => ({
      ...window,
      steps: window.steps.map(([start, used]): [number, number] => [start, used]),
    })),
  };
}

function readSaved(file: string, onFault: (error: unknown) => void): SavedQuota | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return SavedQuota.parse(JSON.parse(text));
  } catch (error) {
    onFault(error);
    return undefined;
  }
}
