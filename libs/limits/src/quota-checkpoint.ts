import type { Level, QuotaCheckpoint, QuotaMeter } from '@sluice/contracts';
import type { LevelState } from './level-state.ts';

type SavedWindow = QuotaCheckpoint['windows'][number];

/** The longest window is 40 days and its last step a tenth of that; older counters mean nothing. */
const OLDEST_MS = 45 * 86_400_000;

/** Counters of a checkpoint, kept until a scope names their window. */
export interface RestoredWindows {
  put(checkpoint: QuotaCheckpoint): void;
  /** Hands a window's counters out once; those of another meter mean nothing and are given up. */
  take(level: Level, id: string, quota: string, meter: QuotaMeter): SavedWindow | undefined;
  /** What nobody has asked for yet and is not too old to matter. */
  left(nowMs: number): QuotaCheckpoint['windows'];
}

export function createRestoredWindows(): RestoredWindows {
  const windows = new Map<string, SavedWindow>();
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
    take(level, id, quota, meter) {
      if (windows.size === 0) return undefined;
      const key = keyOf(level, id, quota);
      const window = windows.get(key);
      windows.delete(key);
      return window?.meter === undefined || window.meter === meter ? window : undefined;
    },
    left: (nowMs) => [...windows.values()].filter(({ steps }) => (steps.at(-1)?.[0] ?? 0) > nowMs - OLDEST_MS),
  };
}

/** Every window with use, as the checkpoint holds it. One whose past is not known says so by an empty cut. */
export function checkpointOf(levels: Iterable<LevelState>, restored: RestoredWindows, nowMs: number): QuotaCheckpoint {
  const windows: SavedWindow[] = [...restored.left(nowMs)];
  for (const { level, id, windows: active } of levels) {
    for (const { definition, counter, meter, cut, founded } of active) {
      const steps = counter.steps(nowMs);
      if (steps.length > 0) windows.push({ level, id, quota: definition.id, meter, cut: founded ? cut : '', steps });
    }
  }
  return { version: 1, savedAtMs: nowMs, windows };
}
