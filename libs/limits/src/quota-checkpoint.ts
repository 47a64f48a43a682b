import type { Level, QuotaCheckpoint } from '@sluice/contracts';
import type { LevelState } from './level-state.ts';

type Steps = QuotaCheckpoint['windows'][number]['steps'];

/** The longest window is 40 days and its last step a tenth of that; older counters mean nothing. */
const OLDEST_MS = 45 * 86_400_000;

const NO_STEPS: Steps = [];

/** Counters of a checkpoint, kept until a scope names their window. */
export interface RestoredWindows {
  put(checkpoint: QuotaCheckpoint): void;
  /** Hands a window's counters out once. */
  take(level: Level, id: string, quota: string): Steps;
  /** What nobody has asked for yet and is not too old to matter. */
  left(nowMs: number): QuotaCheckpoint['windows'];
}

export function createRestoredWindows(): RestoredWindows {
  const windows = new Map<string, QuotaCheckpoint['windows'][number]>();
  const keyOf = (level: Level, id: string, quota: string): string => `${level} ${id} ${quota}`;
  return {
    put(checkpoint) {
      for (const window of checkpoint.windows) {
        const key = keyOf(window.level, window.id, window.quota);
        const before = windows.get(key);
        windows.set(
          key,
          before === undefined
            ? window
            : { ...window, steps: [...before.steps, ...window.steps].sort(([a], [b]) => a - b) },
        );
      }
    },
    take(level, id, quota) {
      if (windows.size === 0) return NO_STEPS;
      const key = keyOf(level, id, quota);
      const steps = windows.get(key)?.steps ?? NO_STEPS;
      windows.delete(key);
      return steps;
    },
    left: (nowMs) => [...windows.values()].filter(({ steps }) => (steps.at(-1)?.[0] ?? 0) > nowMs - OLDEST_MS),
  };
}

/** Every window with use, as the checkpoint holds it. */
export function checkpointOf(levels: Iterable<LevelState>, restored: RestoredWindows, nowMs: number): QuotaCheckpoint {
  const windows: QuotaCheckpoint['windows'][number][] = [...restored.left(nowMs)];
  for (const { level, id, windows: active } of levels) {
    for (const { definition, counter } of active) {
      const steps = counter.steps(nowMs);
      if (steps.length > 0) windows.push({ level, id, quota: definition.id, steps });
    }
  }
  return { version: 1, savedAtMs: nowMs, windows };
}
