import { randomUUID } from 'node:crypto';
import type { Clock } from '@sluice/contracts';
import type { ChaosWatch } from './chaos-watch.ts';
import type { RunningChaos } from './running-chaos.ts';
import type { Expectation } from './expectations.ts';

export interface ChaosTimers {
  setTimeout(callback: () => void, delayMs: number): { unref?(): unknown };
  clearTimeout(timer: unknown): void;
}

export interface StartChaos {
  readonly kind: string;
  readonly target: string;
  readonly seconds: number;
  /** Undoes it; must be safe to call twice. */
  readonly undo: () => Promise<void> | void;
  /** What is watched from its start on. */
  readonly expects?: readonly Expectation[];
}

/** Running chaos actions. Each ends by itself; one of a kind and target replaces the one before. */
export interface ChaosActions {
  start(action: StartChaos): RunningChaos;
  running(): RunningChaos[];
  /** Undoes everything, or all of one kind and target; returns how many were running. */
  stop(kind?: string, target?: string): Promise<number>;
}

export function createChaosActions(deps: {
  clock: Clock;
  timers?: ChaosTimers;
  onError?: (error: unknown) => void;
  watch?: Pick<ChaosWatch, 'started' | 'ended'>;
}): ChaosActions {
  const timers = deps.timers ?? {
    setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
  const running = new Map<string, { info: RunningChaos; timer: { unref?(): unknown }; undo: StartChaos['undo'] }>();

  async function end(id: string): Promise<void> {
    const action = running.get(id);
    if (action === undefined) return;
    running.delete(id);
    timers.clearTimeout(action.timer);
    try {
      await action.undo();
    } catch (error) {
      deps.onError?.(error);
    } finally {
      deps.watch?.ended(id);
    }
  }

  return {
    start: ({ kind, target, seconds, undo, expects = [] }) => {
      for (const [id, action] of running) {
        if (action.info.kind !== kind || action.info.target !== target) continue;
        running.delete(id);
        timers.clearTimeout(action.timer);
      }
      const info = {
        id: randomUUID(),
        kind,
        target,
        ends_at: new Date(deps.clock.now() + seconds * 1000).toISOString(),
      };
      const timer = timers.setTimeout(() => void end(info.id), seconds * 1000);
      timer.unref?.();
      running.set(info.id, { info, timer, undo });
      deps.watch?.started(info, expects);
      return info;
    },
    running: () => [...running.values()].map((action) => action.info),
    stop: async (kind, target) => {
      const chosen = [...running.values()].filter(
        ({ info }) => (kind === undefined || info.kind === kind) && (target === undefined || info.target === target),
      );
      await Promise.all(chosen.map(({ info }) => end(info.id)));
      return chosen.length;
    },
  };
}
