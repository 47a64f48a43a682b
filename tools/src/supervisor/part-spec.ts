import type { HealthCheck } from './health-check.ts';

/** One process of the stack. */
export interface PartSpec {
  readonly name: string;
  /** A few words for people: what it is for. */
  readonly purpose: string;
  /** Where it is reached. */
  readonly url: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly health: HealthCheck;
  /** The boot fails when it is not healthy by then. */
  readonly readyTimeoutMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** It is not started before this file exists. */
  readonly waitForFile?: string;
}
