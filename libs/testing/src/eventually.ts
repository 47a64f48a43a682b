/**
 * How long a test waits for what must happen, in ms. A test that passes never waits this long; a machine with a load
 * of 10 may need seconds for what takes milliseconds on an idle one.
 */
export const PATIENCE_MS = 20_000;

export interface EventuallyOptions {
  /** Default `PATIENCE_MS`. */
  timeoutMs?: number;
  /** Default 25 ms. */
  everyMs?: number;
}

/**
 * Runs `check` until it neither throws nor rejects, and gives what it returned. For waiting on another process;
 * inside one, use the fake clock.
 *
 * @throws the last error of `check` when the time is over, its message prefixed with how long was waited.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = PATIENCE_MS, everyMs = 25 }: EventuallyOptions = {},
): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() - startedMs >= timeoutMs) {
        throw new Error(`not so after ${timeoutMs} ms: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
