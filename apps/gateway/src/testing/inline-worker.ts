import { runBodyJob, bytesOf } from '../bodies/run-body-job.ts';
import type { SpawnWorker } from '../bodies/spawn-worker.ts';
import { ownedBytes } from '../bodies/worker-messages.ts';

/** Does the jobs in this process, a turn of the event loop later: for tests that do not look at threads. */
export const inlineWorker: SpawnWorker = ({ onAnswer }) => {
  let killed = false;
  return {
    send: ({ id, job, bytes }) =>
      void setImmediate(() => {
        if (killed) return;
        try {
          const result = runBodyJob(job, Buffer.from(bytes));
          const made = bytesOf(result);
          const rest = made === undefined ? result : { ...result, body: undefined };
          onAnswer({ id, ok: true, result: rest, made: made && ownedBytes(made), bytes, workMs: 1 });
        } catch (error) {
          onAnswer({ id, ok: false, reason: error instanceof Error ? error.name : 'unknown', bytes, workMs: 1 });
        }
      }),
    kill: () => {
      killed = true;
    },
    hold: () => undefined,
  };
};
