import type { Clock } from '@sluice/contracts';
import { BOOT_POLICY, RESTART_POLICY, type RestartPolicy } from './backoff.ts';
import { lastLines } from './part-log.ts';
import type { PartSpec } from './part-spec.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { createSupervisedPart } from './supervised-part.ts';
import type { SupervisorState } from './supervisor-state.ts';

const LINES_OF_A_FAILURE = 12;

export interface SupervisorDeps {
  /** In order of start. */
  readonly parts: readonly PartSpec[];
  readonly self: ProcessIdentity;
  readonly portBase: number;
  readonly clock: Clock;
  readonly logPath: (part: string) => string;
  /** Writes the state for those who look from outside. */
  readonly save: (state: SupervisorState) => void;
  readonly bootPolicy?: RestartPolicy;
  readonly restartPolicy?: RestartPolicy;
}

export interface Supervisor {
  readonly state: SupervisorState;
  /**
   * Starts every part; resolves true when all are healthy. On a failure everything is stopped and `state.failure`
   * says why.
   */
  start(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Starts parts in order, restarts what dies, stops in reverse order. */
export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const { clock, save } = deps;
  let stopped: Promise<void> | undefined;
  const policy = () =>
    state.phase === 'starting' ? (deps.bootPolicy ?? BOOT_POLICY) : (deps.restartPolicy ?? RESTART_POLICY);
  const parts = deps.parts.map((spec) =>
    createSupervisedPart({ spec, logPath: deps.logPath(spec.name), clock, policy, changed: () => save(state) }),
  );
  const state: SupervisorState = {
    supervisor: deps.self,
    phase: 'starting',
    portBase: deps.portBase,
    startedAtMs: clock.now(),
    parts: parts.map((part) => part.state),
  };

  function move(phase: SupervisorState['phase']): void {
    state.phase = phase;
    save(state);
  }

  async function stopAll(): Promise<void> {
    for (const part of parts.toReversed()) await part.stop();
  }

  return {
    state,
    async start() {
      save(state);
      for (const part of parts) {
        try {
          await part.start();
        } catch (error) {
          state.failure = {
            part: part.spec.name,
            message: (error as Error).message,
            lastLines: lastLines(deps.logPath(part.spec.name), LINES_OF_A_FAILURE),
          };
          await stopAll();
          move('failed');
          return false;
        }
        if (stopped !== undefined) return false;
      }
      move('running');
      return true;
    },
    stop() {
      stopped ??= (async () => {
        move('stopping');
        await stopAll();
        move('stopped');
      })();
      return stopped;
    },
  };
}
