import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { WorkerAnswer, WorkerJob } from './worker-messages.ts';
import { ownedBytes } from './worker-messages.ts';
import { bytesOf, runBodyJob } from './run-body-job.ts';

/** The event loop is never to wait for a core that a worker has. */
const NICE = 5;

// On Linux this is the thread's own priority; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(0, NICE);

parentPort?.on('message', ({ id, job, bytes }: WorkerJob) => {
  const startedAt = performance.now();
  const given = Buffer.from(bytes);
  let answer: WorkerAnswer;
  const transfer = [bytes];
  try {
    const result = runBodyJob(job, given);
    const made = bytesOf(result);
    const own = made === undefined || made === given ? undefined : ownedBytes(made);
    if (own !== undefined) transfer.push(own);
    // What holds bytes is sent without them; they go beside it.
    const rest = made === undefined ? result : { ...result, body: undefined };
    answer = { id, ok: true, result: rest, made: own, bytes, workMs: performance.now() - startedAt };
  } catch (error) {
    // Its message may quote the body.
    const reason = error instanceof Error ? error.name : 'unknown';
    answer = { id, ok: false, reason, bytes, workMs: performance.now() - startedAt };
  }
  parentPort?.postMessage(answer, transfer);
});
