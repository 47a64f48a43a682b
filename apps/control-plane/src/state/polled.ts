import type { Clock } from '@sluice/contracts';

/** A value that is read again and again off the request path; the last good one stays while reading fails. */
export interface Polled<T> {
  /** Reads once; never throws, and does nothing while a read is under way. */
  poll(): Promise<void>;
  /** The newest value, or undefined before the first. */
  readonly value: T | undefined;
  /** Since when reading fails, epoch milliseconds; undefined while it works. */
  readonly failingSinceMs: number | undefined;
}

/** @param read given up after `timeoutMs`, so that one hanging read does not stop the polling. */
export function createPolled<T>(deps: {
  clock: Clock;
  read: () => Promise<T>;
  timeoutMs?: number;
  onError?: (error: unknown) => void;
}): Polled<T> {
  let value: T | undefined;
  let failingSinceMs: number | undefined;
  let busy = false;
  return {
    poll: async () => {
      if (busy) return;
      busy = true;
      try {
        value = await within(deps.read(), deps.timeoutMs ?? 5_000);
        failingSinceMs = undefined;
      } catch (error) {
        if (failingSinceMs === undefined) deps.onError?.(error);
        failingSinceMs ??= deps.clock.now();
      } finally {
        busy = false;
      }
    },
    get value() {
      return value;
    },
    get failingSinceMs() {
      return failingSinceMs;
    },
  };
}

async function within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
