import type { StackSettings } from '../stack/settings.ts';

/** What a check cannot do on this machine, in words; neither passed nor failed. */
export interface Skipped {
  readonly skipped: string;
}

/**
 * One long form of `make verify`. It starts what it needs on ports of its own and leaves nothing behind, also when
 * it fails.
 */
export interface DeepCheck {
  /** A sentence that says what holds when it passes; part of it selects the check on the command line. */
  readonly name: string;
  /** Resolves with the figures that it measured, in words. @throws Error whose message says what did not hold. */
  run(settings: StackSettings): Promise<string | Skipped>;
}
