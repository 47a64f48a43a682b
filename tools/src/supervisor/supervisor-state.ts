import { z } from 'zod';
import { readJson } from '../stack/private-file.ts';

const Identity = z.object({ pid: z.int(), startTime: z.string() });

export const PartState = z.object({
  name: z.string(),
  purpose: z.string(),
  url: z.string(),
  /** `waiting` has not been started yet; `backoff` died and is started again soon; `failed` is given up. */
  state: z.enum(['waiting', 'starting', 'ready', 'backoff', 'failed', 'stopped']),
  process: Identity.optional(),
  restarts: z.int(),
  /** From the start of the process until its health check passed. */
  readyMs: z.number().optional(),
  startedAtMs: z.number().optional(),
  /** How its last process ended. */
  lastExit: z.string().optional(),
});
export type PartState = z.infer<typeof PartState>;

/** `.sluice/supervisor.json`. */
export const SupervisorState = z.object({
  supervisor: Identity,
  phase: z.enum(['starting', 'running', 'failed', 'stopping', 'stopped']),
  portBase: z.int(),
  startedAtMs: z.number(),
  failure: z.object({ part: z.string(), message: z.string(), lastLines: z.array(z.string()) }).optional(),
  /** In order of start. */
  parts: z.array(PartState),
});
export type SupervisorState = z.infer<typeof SupervisorState>;

/** Undefined when no stack was started here. */
export function readState(path: string): SupervisorState | undefined {
  return SupervisorState.safeParse(readJson(path)).data;
}
