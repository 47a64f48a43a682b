import type { CancelReason, CancelToken } from '../cancel-token.ts';

/** The calls that are running now. */
export interface CallsInFlight {
  readonly count: number;
  add(cancel: CancelToken): void;
  remove(cancel: CancelToken): void;
  cancelAll(reason: CancelReason): void;
  /** Resolves true when none is left, or false after `timeoutMs`. */
  drained(timeoutMs: number): Promise<boolean>;
}

export function createCallsInFlight(): CallsInFlight {
  const running = new Set<CancelToken>();
  const waiting = new Set<() => void>();
  return {
    get count() {
      return running.size;
    },
    add(cancel) {
      running.add(cancel);
    },
    remove(cancel) {
      running.delete(cancel);
      if (running.size > 0 || waiting.size === 0) return;
      for (const wake of waiting) wake();
      waiting.clear();
    },
    cancelAll(reason) {
      for (const cancel of running) cancel.cancel(reason);
    },
    drained(timeoutMs) {
      if (running.size === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          resolve(true);
        };
        const timer = setTimeout(() => {
          waiting.delete(wake);
          resolve(false);
        }, timeoutMs);
        waiting.add(wake);
      });
    },
  };
}
