import { setTimeout as sleep } from 'node:timers/promises';
import type { CompiledConfig } from './compiled-config.ts';
import type { ConfigClient } from './config/config-client.ts';

/** How long a boot without a saved configuration waits for the control plane before it opens its port all the same. */
const FIRST_CONFIG_MS = 15_000;
/** How long a boot with a saved configuration waits to hear whether it may serve. */
const FIRST_ANSWER_MS = 2_000;
const RETRY_MS = 500;

export interface ComeBackDeps {
  readonly config: Pick<ConfigClient, 'ready' | 'tried' | 'current'>;
  /** Puts counters in force and settles what a killed process left open; runs once, before the first admission. */
  readonly recover: (config: CompiledConfig) => Promise<void>;
  /** True when there is no point in going on. */
  readonly stopped: () => boolean;
  readonly onFault: (error: unknown) => void;
  /** Waits so many ms; the system's timer unless given. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

/**
 * Recovers by the first configuration that may be served by. Resolves when that is done, or after 15 s without one:
 * then it goes on in the background and calls are refused meanwhile.
 */
export async function comeBack({ config, recover, stopped, onFault, wait = sleep }: ComeBackDeps): Promise<void> {
  const attempt = async (): Promise<boolean> => {
    const current = config.current();
    if (current === undefined) return false;
    await recover(current);
    return true;
  };
  const goOn = async (): Promise<void> => {
    while (!stopped()) {
      await wait(RETRY_MS);
      if ((await config.ready(FIRST_CONFIG_MS)) && (await attempt())) return;
    }
  };
  // The saved configuration would do at once, but the control plane may know that another gateway serves the cell.
  if (await config.ready(FIRST_CONFIG_MS)) await config.tried(FIRST_ANSWER_MS);
  if (!(await attempt())) void goOn().catch(onFault);
}
