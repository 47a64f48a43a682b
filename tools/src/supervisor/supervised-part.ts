import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@sluice/contracts';
import { restartDelayMs, type RestartPolicy } from './backoff.ts';
import { isHealthy } from './health-check.ts';
import { startPart, type PartProcess } from './part-process.ts';
import type { PartSpec } from './part-spec.ts';
import { stopProcess } from './stop-process.ts';
import type { PartState } from './supervisor-state.ts';

const HEALTH_POLL_MS = 50;

export interface SupervisedPart {
  readonly spec: PartSpec;
  readonly state: PartState;
  /** Starts it and resolves when it is healthy. @throws Error with a sentence when it is given up or too late. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface SupervisedPartDeps {
  readonly spec: PartSpec;
  readonly logPath: string;
  readonly clock: Clock;
  /** Asked anew at each death. */
  readonly policy: () => RestartPolicy;
  /** After every change of `state`. */
  readonly changed: () => void;
}

/** Keeps one part running: starts it, watches for its end, starts it again with growing delays, gives up in the end. */
export function createSupervisedPart({ spec, logPath, clock, policy, changed }: SupervisedPartDeps): SupervisedPart {
  const state: PartState = { name: spec.name, purpose: spec.purpose, url: spec.url, state: 'waiting', restarts: 0 };
  const stopping = new AbortController();
  let current: PartProcess | undefined;
  let quickDeaths = 0;

  function change(next: Partial<PartState>): void {
    Object.assign(state, next);
    changed();
  }

  async function launch(): Promise<void> {
    const startedAt = clock.monotonic();
    change({ state: 'starting', startedAtMs: clock.now() });
    let child: PartProcess;
    try {
      child = await startPart(spec, logPath);
    } catch (error) {
      afterDeath((error as Error).message, startedAt);
      return;
    }
    current = child;
    change({ process: child.identity });
    void child.ended.then((how) => {
      if (current === child) current = undefined;
      if (!stopping.signal.aborted) afterDeath(how, startedAt);
    });
    while (current === child && !stopping.signal.aborted) {
      if (await isHealthy(spec.health)) {
        if (current === child) change({ state: 'ready', readyMs: Math.round(clock.monotonic() - startedAt) });
        return;
      }
      await delay(HEALTH_POLL_MS);
    }
  }

  function afterDeath(how: string, startedAt: number): void {
    quickDeaths = clock.monotonic() - startedAt < policy().quickMs ? quickDeaths + 1 : 1;
    const waitMs = restartDelayMs(policy(), quickDeaths);
    if (waitMs === undefined) {
      change({ state: 'failed', process: undefined, lastExit: how });
      return;
    }
    change({ state: 'backoff', process: undefined, lastExit: how, restarts: state.restarts + 1 });
    void delay(waitMs, undefined, { signal: stopping.signal }).then(launch, () => undefined);
  }

  return {
    spec,
    state,
    async start() {
      const deadline = clock.monotonic() + spec.readyTimeoutMs;
      const waitFor = spec.waitForFile;
      while (waitFor !== undefined && !(await isHealthy({ kind: 'file', path: waitFor })) && !stopping.signal.aborted) {
        if (clock.monotonic() > deadline) throw new Error(`${spec.name} waited in vain for ${waitFor}`);
        await delay(HEALTH_POLL_MS);
      }
      if (stopping.signal.aborted) return;
      void launch();
      while (state.state !== 'ready') {
        if (stopping.signal.aborted) return;
        if (state.state === 'failed')
          throw new Error(`${spec.name} does not start: it ended with ${state.lastExit ?? 'nothing'}`);
        if (clock.monotonic() > deadline)
          throw new Error(`${spec.name} was not healthy within ${Math.round(spec.readyTimeoutMs / 1000)} s`);
        await delay(HEALTH_POLL_MS);
      }
      quickDeaths = 0;
    },
    async stop() {
      stopping.abort();
      const leader = current?.identity ?? state.process;
      if (leader !== undefined) await stopProcess(leader, spec.graceMs);
      change({ state: 'stopped', process: undefined });
    },
  };
}
