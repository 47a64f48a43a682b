import type { Logger } from './logger.ts';

/** The parts of `process` that running a service touches. */
export interface HostProcess {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  exit(code: number): unknown;
  stderr: { write(text: string): unknown };
}

export interface RunServiceOptions {
  name: string;
  logger: Pick<Logger, 'info' | 'warn' | 'error' | 'fatal'>;
  /** Boots the service; what it returns is closed on SIGTERM or SIGINT. */
  start: () => Promise<{ close(): Promise<void> }>;
  /** How long closing may take before the process exits with 1. Default 10,000 ms. */
  drainMs?: number;
  /** The real process when absent. */
  host?: HostProcess;
}

/**
 * Runs a service until a signal. Exit codes: 0 after a clean stop, 1 after a failed boot (one sentence on standard
 * error), a drain that took too long, or a fault that nothing caught.
 */
export async function runService({
  name,
  logger,
  start,
  drainMs = 10_000,
  host = process,
}: RunServiceOptions): Promise<void> {
  let running: { close(): Promise<void> } | undefined;
  let stopping = false;

  async function stop(signal: string): Promise<void> {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, `${name} is stopping`);
    const late = setTimeout(() => {
      logger.error({ drain_ms: drainMs }, `${name} did not stop in time`);
      host.exit(1);
    }, drainMs);
    late.unref();
    try {
      await running?.close();
      clearTimeout(late);
      host.exit(0);
    } catch (error) {
      clearTimeout(late);
      logger.error({ err: error }, `${name} failed to stop cleanly`);
      host.exit(1);
    }
  }

  function crash(error: unknown): void {
    logger.fatal({ err: error }, `${name} hit a fault that nothing caught`);
    host.exit(1);
  }

  host.on('SIGTERM', () => void stop('SIGTERM'));
  host.on('SIGINT', () => void stop('SIGINT'));
  host.on('uncaughtException', crash);
  host.on('unhandledRejection', crash);
  try {
    running = await start();
  } catch (error) {
    host.stderr.write(`${name} could not start: ${error instanceof Error ? error.message : String(error)}\n`);
    host.exit(1);
    return;
  }
  logger.info(`${name} is ready`);
}
