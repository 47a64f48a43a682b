import { availableParallelism } from 'node:os';
import type { Clock, Priority } from '@sluice/contracts';
import { createFairQueue, type QueueEntry, type Timers } from '@sluice/limits';
import type { CancelToken } from '../cancel-token.ts';
import type { BodyJob, BodyResults } from './body-job.ts';
import { spawnWorker, type BodyWorker, type SpawnWorker } from './spawn-worker.ts';
import { ownedBytes, type WorkerAnswer } from './worker-messages.ts';

/** Whose job it is. */
export interface JobOwner {
  readonly tenantId: string;
  readonly workspaceId: string;
  readonly priority: Priority;
}

/**
 * How a job ended. `died`: its worker was lost with it, most likely for want of memory. `too_long`: it was stopped at
 * the time limit. `no_turn`: others were before it for too long. `cancelled`: its call was given up.
 */
export type JobEnd<Result> =
  | { readonly kind: 'done'; readonly result: Result; readonly bytes: Buffer; readonly waitMs: number }
  | { readonly kind: 'died' | 'too_long' | 'no_turn' | 'cancelled'; readonly waitMs: number };

/** A job that ended, for metrics. */
export interface MeasuredJob {
  readonly job: BodyJob['kind'];
  readonly end: JobEnd<unknown>['kind'] | 'fault';
  readonly waitMs: number;
  /** Time in a worker; 0 when it had none. */
  readonly workMs: number;
}

/**
 * Does the work on large bodies off the event loop, in a fixed number of threads. Tenants take turns by the bytes that
 * they bring, and none has all threads, so that a tenant's first large body waits for one other at most.
 */
export interface BodyPool {
  /**
   * @param bytes handed over: they must not be used until they come back, and are lost unless the end is `done`.
   * @throws Error when the job's code failed.
   */
  run<Kind extends BodyJob['kind']>(
    job: Extract<BodyJob, { kind: Kind }>,
    bytes: Buffer,
    owner: JobOwner,
    cancel: CancelToken,
  ): Promise<JobEnd<BodyResults[Kind]>>;
  /** Jobs that wait for a thread. */
  readonly waiting: number;
  /** Stops every thread; what is under way ends as `died`. */
  close(): void;
}

export interface BodyPoolOptions {
  readonly clock: Clock;
  /** Threads; unless given one less than there are cores, at least 2 and at most 4. */
  readonly threads?: number;
  /** Most that a job may take; 15 s unless given. */
  readonly limitMs?: number;
  /** Longest wait for a thread; 30 s unless given. */
  readonly maxWaitMs?: number;
  readonly timers?: Timers;
  readonly spawn?: SpawnWorker;
  readonly onJob?: (job: MeasuredJob) => void;
  /** A thread was lost, or stopped at its limit, and another takes its place. */
  readonly onLost?: () => void;
}

interface Waiting {
  readonly job: BodyJob;
  readonly bytes: Buffer;
  readonly askedAt: number;
  readonly end: (how: Ended) => void;
  /** Its call does not wait for it any more. */
  abandoned: boolean;
}

type Ended =
  { readonly kind: 'done'; readonly answer: WorkerAnswer } | { readonly kind: 'died' | 'too_long' | 'no_turn' };

interface Thread {
  worker: BodyWorker | undefined;
  entry: QueueEntry<Waiting> | undefined;
  timer: unknown;
  /** Its worker has answered. */
  proven: boolean;
}

const processTimers: Timers = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Threads are started together when the first is needed, and each is replaced at once when it is lost at work. */
export function createBodyPool({
  clock,
  threads: count = Math.min(4, Math.max(2, availableParallelism() - 1)),
  limitMs = 15_000,
  maxWaitMs = 30_000,
  timers = processTimers,
  spawn = spawnWorker,
  onJob,
  onLost,
}: BodyPoolOptions): BodyPool {
  const queue = createFairQueue<Waiting>();
  const threads: Thread[] = Array.from({ length: count }, () => ({
    worker: undefined,
    entry: undefined,
    timer: undefined,
    proven: false,
  }));
  const running = new Map<string, number>();
  const share = Math.max(1, count - 1);
  let jobs = 0;
  let closed = false;

  const mayRun = ({ tenantId }: QueueEntry<Waiting>): boolean => (running.get(tenantId) ?? 0) < share;

  function dispatch(): void {
    for (const thread of threads) {
      if (thread.entry !== undefined) continue;
      let entry = queue.pop(mayRun);
      while (entry !== undefined && clock.monotonic() - entry.value.askedAt > maxWaitMs) {
        entry.value.end({ kind: 'no_turn' });
        entry = queue.pop(mayRun);
      }
      if (entry === undefined) return;
      begin(thread, entry);
    }
  }

  function begin(thread: Thread, entry: QueueEntry<Waiting>): void {
    running.set(entry.tenantId, (running.get(entry.tenantId) ?? 0) + 1);
    thread.entry = entry;
    for (const each of threads) each.worker ??= start(each);
    const worker = thread.worker as BodyWorker;
    worker.hold(true);
    thread.timer = timers.setTimeout(() => lose(thread, worker, 'too_long'), limitMs);
    const { job, bytes } = entry.value;
    worker.send({ id: (jobs += 1), job, bytes: ownedBytes(bytes) });
  }

  function start(thread: Thread): BodyWorker {
    thread.proven = false;
    const worker = spawn({
      onAnswer: (answer) => {
        if (thread.worker !== worker) return;
        thread.proven = true;
        finish(thread, { kind: 'done', answer });
      },
      onGone: () => lose(thread, worker, 'died'),
    });
    return worker;
  }

  function lose(thread: Thread, worker: BodyWorker, why: 'died' | 'too_long'): void {
    if (thread.worker !== worker) return;
    thread.worker = undefined;
    worker.kill();
    if (!closed) {
      // One that was lost before its first answer may never start: it is tried again when it is needed.
      if (thread.proven) thread.worker = start(thread);
      onLost?.();
    }
    finish(thread, { kind: why });
  }

  function finish(thread: Thread, how: Ended): void {
    const { entry } = thread;
    if (entry === undefined) return;
    thread.entry = undefined;
    timers.clearTimeout(thread.timer);
    thread.worker?.hold(false);
    const left = (running.get(entry.tenantId) ?? 1) - 1;
    if (left === 0) running.delete(entry.tenantId);
    else running.set(entry.tenantId, left);
    entry.value.end(how);
    if (!closed) dispatch();
  }

  return {
    get waiting() {
      return queue.size;
    },
    run(job, bytes, owner, cancel) {
      return new Promise((resolve, reject) => {
        const askedAt = clock.monotonic();
        let begunAt: number | undefined;
        let unsubscribe: () => void = () => undefined;
        const measure = (end: MeasuredJob['end'], workMs: number): number => {
          unsubscribe();
          const waitMs = (begunAt ?? clock.monotonic()) - askedAt;
          onJob?.({ job: job.kind, end, waitMs, workMs });
          return waitMs;
        };
        const value: Waiting = {
          job,
          bytes,
          askedAt,
          abandoned: false,
          end: (how) => {
            if (value.abandoned) return;
            if (how.kind !== 'done') {
              resolve({ kind: how.kind, waitMs: measure(how.kind, 0) });
              return;
            }
            const { answer } = how;
            begunAt = clock.monotonic() - answer.workMs;
            if (!answer.ok) {
              measure('fault', answer.workMs);
              reject(new Error(`a ${job.kind} job failed: ${answer.reason}`));
              return;
            }
            const waitMs = measure('done', answer.workMs);
            resolve({ kind: 'done', result: resultOf(answer) as never, bytes: Buffer.from(answer.bytes), waitMs });
          },
        };
        const entry = queue.push({ ...owner, costTokens: bytes.length, value });
        unsubscribe = cancel.onCancel(() => {
          if (value.abandoned) return;
          value.abandoned = true;
          queue.remove(entry);
          resolve({ kind: 'cancelled', waitMs: measure('cancelled', 0) });
        });
        dispatch();
      });
    },
    close() {
      closed = true;
      for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) entry.value.end({ kind: 'died' });
      for (const thread of threads) if (thread.worker !== undefined) lose(thread, thread.worker, 'died');
    },
  };
}

/** The result with the bytes that were sent beside it. */
function resultOf({ result, made }: Extract<WorkerAnswer, { ok: true }>): unknown {
  if (made === undefined) return result;
  const bytes = Buffer.from(made);
  return { ...(result as object), body: bytes };
}
