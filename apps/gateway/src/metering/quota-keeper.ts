import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LEVELS, type CallSettled, type LimitScope, type LimitStore, type QuotaCheckpoint } from '@sluice/contracts';
import { writeFileAtomic } from '@sluice/service-kit';

const FILE = 'quota.json';
const EVERY_MS = 1_000;

const SavedQuota = z.object({
  /** Every settled call up to here, of this epoch and all earlier ones, is in the counters. */
  epoch: z.int(),
  sequence: z.int(),
  /** Sequences of this epoch beyond it that are in the counters too: calls do not end in the order of their records. */
  ahead: z.array(z.int()),
  checkpoint: z.object({
    version: z.literal(1),
    savedAtMs: z.number(),
    windows: z.array(
      z.object({ level: z.enum(LEVELS), id: z.string(), quota: z.string(), steps: z.array(z.tuple([z.number(), z.number()])) }),
    ),
  }),
});
type SavedQuota = z.infer<typeof SavedQuota>;

/** Keeps the quota counters on disk, so that an exhausted quota is still exhausted after a kill. */
export interface QuotaKeeper {
  /** Puts the saved counters in force, then adds what the outbox holds beyond them. Before the first admission. */
  restore(settled: Iterable<CallSettled>, scopeOf: (event: CallSettled) => LimitScope | undefined): Promise<{ restored: boolean; replayed: number }>;
  /** A settled call has reached the counters. */
  counted(epoch: number, sequence: number): void;
  start(): void;
  save(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param dir folder of this gateway's state; one file in it is replaced each second when something was used.
 */
export function createQuotaKeeper({ dir, limits, onFault }: { dir: string; limits: LimitStore; onFault: (error: unknown) => void }): QuotaKeeper {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, FILE);
  let position = { epoch: 0, sequence: 0 };
  const ahead = new Set<number>();
  let dirty = false;
  let timer: NodeJS.Timeout | undefined;

  const save = async (): Promise<void> => {
    if (!dirty) return;
    dirty = false;
    const saved: SavedQuota = { ...position, ahead: [...ahead], checkpoint: mutable(await limits.checkpoint()) };
    await writeFileAtomic(file, JSON.stringify(saved), 0o600);
  };

  return {
    async restore(settled, scopeOf) {
      const saved = readSaved(file, onFault);
      if (saved !== undefined) {
        await limits.restore(saved.checkpoint);
        position = { epoch: saved.epoch, sequence: saved.sequence };
        for (const sequence of saved.ahead) ahead.add(sequence);
      }
      let replayed = 0;
      let replayedTo = position;
      for (const event of settled) {
        if (event.epoch < position.epoch) continue;
        if (event.epoch === position.epoch && (event.sequence <= position.sequence || saved?.ahead.includes(event.sequence))) continue;
        const scope = scopeOf(event);
        if (scope !== undefined) {
          await limits.replay({ scope, atMs: Date.parse(event.occurred_at), usage: event.usage, costNanoUsd: event.billed_nanousd });
          replayed += 1;
        }
        replayedTo = { epoch: event.epoch, sequence: event.sequence };
        dirty = true;
      }
      position = replayedTo;
      return { restored: saved !== undefined, replayed };
    },
    counted(epoch, sequence) {
      if (epoch > position.epoch) {
        position = { epoch, sequence: 0 };
        ahead.clear();
      }
      ahead.add(sequence);
      while (ahead.delete(position.sequence + 1)) position.sequence += 1;
      dirty = true;
    },
    start() {
      timer = setInterval(() => void save().catch(onFault), EVERY_MS);
      timer.unref();
    },
    save,
    async stop() {
      clearInterval(timer);
      await save();
    },
  };
}

function mutable(checkpoint: QuotaCheckpoint): SavedQuota['checkpoint'] {
  return {
    ...checkpoint,
    windows: checkpoint.windows.map((window) => ({ ...window, steps: window.steps.map(([start, used]): [number, number] => [start, used]) })),
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
