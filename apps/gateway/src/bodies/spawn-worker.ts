import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { WorkerAnswer, WorkerJob } from './worker-messages.ts';

/** A thread that does one job after the other. */
export interface BodyWorker {
  send(message: WorkerJob): void;
  /** Stops it in the middle of whatever it does. */
  kill(): void;
  /** Whether it keeps the process alive. */
  hold(alive: boolean): void;
}

export interface WorkerEvents {
  onAnswer(answer: WorkerAnswer): void;
  /** It is gone, asked or not, and answers no more. */
  onGone(): void;
}

export type SpawnWorker = (events: WorkerEvents) => BodyWorker;

/** Much more than the largest body within the bounds on its shape takes. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 64 };

/** A thread of its own, from the sources or from what was built, whichever runs. */
export const spawnWorker: SpawnWorker = ({ onAnswer, onGone }) => {
  const extension = extname(fileURLToPath(import.meta.url));
  const worker = new Worker(new URL(`./body-worker${extension}`, import.meta.url), {
    name: 'body-worker',
    resourceLimits: RESOURCE_LIMITS,
    ...(extension === '.ts' ? { execArgv: ['--conditions=@sluice/source'] } : {}),
  });
  worker.on('message', onAnswer);
  // An exit follows each error, and says all that has to be known.
  worker.on('error', () => undefined);
  worker.on('exit', onGone);
  worker.unref();
  return {
    send: (message) => worker.postMessage(message, [message.bytes]),
    kill: () => void worker.terminate(),
    hold: (alive) => void (alive ? worker.ref() : worker.unref()),
  };
};
