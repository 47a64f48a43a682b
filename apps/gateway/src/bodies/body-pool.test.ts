import { createFakeClock, type FakeTimer } from '@sluice/testing';
import { createCancelToken } from '../cancel-token.ts';
import { type BodyPoolOptions, createBodyPool, type JobEnd, type MeasuredJob } from './body-pool.ts';
import type { BodyWorker, WorkerEvents } from './spawn-worker.ts';
import type { WorkerAnswer, WorkerJob } from './worker-messages.ts';

interface Thread {
  readonly events: WorkerEvents;
  readonly jobs: WorkerJob[];
  killed: boolean;
}

const JOB = { kind: 'read', operation: 'chat', acrossDialects: undefined, dialects: [] } as const;

function setUp(options: Partial<BodyPoolOptions> = {}) {
  const clock = createFakeClock();
  const threads: Thread[] = [];
  const measured: MeasuredJob[] = [];
  const pool = createBodyPool({
    clock,
    threads: 2,
    limitMs: 1_000,
    maxWaitMs: 5_000,
    timers: {
      setTimeout: (callback, ms) => clock.setTimeout(callback, ms),
      clearTimeout: (timer) => clock.clearTimeout(timer as FakeTimer),
    },
    spawn: (events): BodyWorker => {
      const thread: Thread = { events, jobs: [], killed: false };
      threads.push(thread);
      return { send: (job) => thread.jobs.push(job), kill: () => (thread.killed = true), hold: () => undefined };
    },
    onJob: (job) => measured.push(job),
    ...options,
  });
  /** Order in which the jobs of tenants came to an end. */
  const ended: string[] = [];
  const run = (tenantId: string, bytes = 1_000, cancel = createCancelToken()): Promise<JobEnd<unknown>> => {
    const end = pool.run(JOB, Buffer.alloc(bytes), { tenantId, workspaceId: tenantId, priority: 'standard' }, cancel);
    void end.then(
      ({ kind }) => ended.push(`${tenantId} ${kind}`),
      () => ended.push(`${tenantId} fault`),
    );
    return end;
  };
  const running = (): Thread[] => threads.filter((thread) => !thread.killed && thread.jobs.length > 0);
  const answer = (thread: Thread, more: Partial<WorkerAnswer> = {}): void => {
    const job = thread.jobs.shift() as WorkerJob;
    thread.events.onAnswer({
      id: job.id,
      bytes: job.bytes,
      workMs: 7,
      ok: true,
      result: {},
      made: undefined,
      ...more,
    } as WorkerAnswer);
  };
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
  };
  return { clock, pool, threads, measured, ended, run, running, answer, settle };
}

describe('threads for large bodies', () => {
  it('are not started before somebody needs one', () => {
    const { threads, run } = setUp();
    expect(threads).toHaveLength(0);
    void run('acme');
    expect(threads).toHaveLength(2);
  });

  it('are never all of one tenant: the first body of another begins at once', () => {
    const { run, running } = setUp();
    for (let i = 0; i < 20; i += 1) void run('attacker', 10_000_000);
    expect(running()).toHaveLength(1);
    void run('healthy', 100_000);
    expect(running()).toHaveLength(2);
  });

  it('take turns among tenants by bytes: two that send a hundred large bodies delay a third by one of them', async () => {
    const { run, running, answer, ended, settle } = setUp();
    for (let i = 0; i < 50; i += 1) for (const tenant of ['a', 'b']) void run(tenant, 10_000_000);
    void run('healthy', 100_000);
    for (let i = 0; i < 2; i += 1) {
      answer(running()[0] as Thread);
      await settle();
    }
    answer(running().find(({ jobs }) => jobs[0]?.bytes.byteLength === 100_000) as Thread);
    await settle();
    expect(ended.slice(0, 3)).toContain('healthy done');
  });

  it('give the bytes back with the result, and tell how long the job waited', async () => {
    const { clock, run, running, answer, measured } = setUp({ threads: 1 });
    const first = run('acme');
    const second = run('globex');
    clock.advance(300);
    answer(running()[0] as Thread, { workMs: 300 });
    expect(await first).toMatchObject({ kind: 'done', waitMs: 0 });
    clock.advance(7);
    answer(running()[0] as Thread);
    const end = await second;
    expect(end).toMatchObject({ kind: 'done', waitMs: 300 });
    expect(end.kind === 'done' && end.bytes.length).toBe(1_000);
    expect(measured.map(({ waitMs, workMs }) => [waitMs, workMs])).toEqual([
      [0, 300],
      [300, 7],
    ]);
  });

  it('stop a job at its limit, which ends it alone, and go on with another thread', async () => {
    const { clock, run, running, answer, threads } = setUp({ threads: 1 });
    const first = run('acme');
    answer(running()[0] as Thread);
    await first;
    const slow = run('acme');
    const next = run('globex');
    clock.advance(1_000);
    expect(await slow).toMatchObject({ kind: 'too_long' });
    expect(threads[0]?.killed).toBe(true);
    answer(running()[0] as Thread);
    expect(await next).toMatchObject({ kind: 'done' });
    expect(threads).toHaveLength(2);
  });

  it('that die end their own job alone and are replaced', async () => {
    const lost: number[] = [];
    const { run, running, answer } = setUp({ onLost: () => lost.push(1) });
    const doomed = run('acme');
    const other = run('globex');
    const [dying, living] = running() as [Thread, Thread];
    dying.killed = true;
    dying.events.onGone();
    expect(await doomed).toMatchObject({ kind: 'died' });
    answer(living);
    expect(await other).toMatchObject({ kind: 'done' });
    const later = run('acme');
    answer(running()[0] as Thread);
    expect(await later).toMatchObject({ kind: 'done' });
    expect(lost).toHaveLength(1);
  });

  it('that cannot start are not started again and again', async () => {
    const { run, threads } = setUp({ threads: 1 });
    const end = run('acme');
    threads[0]?.events.onGone();
    expect(await end).toMatchObject({ kind: 'died' });
    expect(threads).toHaveLength(1);
  });

  it('do nothing for a call that was given up, and its turn is free', async () => {
    const { run, running, answer, threads, pool } = setUp({ threads: 1 });
    void run('acme');
    const cancel = createCancelToken();
    const given = run('globex', 1_000, cancel);
    expect(pool.waiting).toBe(1);
    cancel.cancel('client_closed');
    expect(await given).toMatchObject({ kind: 'cancelled' });
    expect(pool.waiting).toBe(0);
    answer(running()[0] as Thread);
    expect(threads[0]?.jobs).toHaveLength(0);
  });

  it('do not begin what has waited for too long', async () => {
    const { clock, run, running, answer } = setUp({ threads: 1, limitMs: 60_000 });
    void run('acme');
    const late = run('globex');
    clock.advance(5_001);
    answer(running()[0] as Thread);
    expect(await late).toMatchObject({ kind: 'no_turn' });
  });

  it('whose code fails say so as a fault, not as the body of a caller', async () => {
    const { run, running, answer } = setUp();
    const end = run('acme');
    answer(running()[0] as Thread, { ok: false, reason: 'TypeError' } as Partial<WorkerAnswer>);
    await expect(end).rejects.toThrow('TypeError');
  });

  it('end what is under way and what waits when the gateway stops', async () => {
    const { run, pool, threads, clock } = setUp({ threads: 1 });
    const ends = [run('acme'), run('globex')];
    pool.close();
    expect((await Promise.all(ends)).map(({ kind }) => kind)).toEqual(['died', 'died']);
    expect(threads.every(({ killed }) => killed)).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });
});
