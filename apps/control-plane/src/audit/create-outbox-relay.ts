import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { errorWords, TopicName, type Clock, type EventPublisher } from '@sluice/contracts';
import type { PutAside } from '../consumers/put-aside.ts';
import type { Db, Executor } from '../db/open-database.ts';

export interface OutboxLoad {
  readonly rows: number;
  /** 0 when there are none. */
  readonly oldestAgeMs: number;
}

export interface OutboxRelay {
  start(): void;
  /** Publishes what waits, now; resolves with how many were published. */
  flush(): Promise<number>;
  /** How many events their consumer has not stored, and since when the oldest of them is on its way. */
  measure(): Promise<OutboxLoad>;
  /** Ends polling after the running round. */
  stop(): Promise<void>;
  readonly state: { readonly lastError: string | undefined };
}

const BATCH = 10;
const MAX_WAIT_MS = 10_000;
/** A published event that its consumer has not stored by then is published again; the wait doubles each time. */
const CONFIRM_MS = 30_000;
const MAX_CONFIRM_MS = 10 * 60_000;
/** An event that was refused beside others that were not waits this long. */
const REFUSED_MS = 1_000;
/** An event that was refused so often beside others, or published so often (5 hours) and not stored, is put aside. */
const MAX_REFUSED = 100;
const MAX_ATTEMPTS = 32;

const Waiting = z.object({
  id: z.coerce.string(),
  topic: TopicName,
  event: z.unknown(),
  attributes: z.record(z.string(), z.string()),
  attempts: z.coerce.number(),
  refused: z.coerce.number(),
});

const Load = z.object({ rows: z.coerce.number(), oldest_s: z.coerce.number() });

const iso = (ms: number): string => new Date(ms).toISOString();

/** Topics whose consumer tells the outbox what it has stored; rows of others are done when they are published. */
const CONFIRMED: readonly TopicName[] = ['audit-events'];

/**
 * Publishes rows of `event_outbox` at least once, oldest first. A row of the audit topic is done when the audit
 * consumer has stored its event, which removes it; until then it is published again after 30 s, 60 s, up to every
 * 10 min, so that a spine that loses what it held loses nothing of the log. Several processes may relay at once:
 * each locks its own rows. While the spine does not answer, rows wait and the poll slows down to one in ten
 * seconds.
 */
export function createOutboxRelay(deps: {
  db: Db;
  publisher: Pick<EventPublisher, 'publish'>;
  clock: Pick<Clock, 'now'>;
  /** Between looks while nothing waits, milliseconds. */
  intervalMs: number;
  onError?: (error: unknown) => void;
  /** Where events go that are never taken; without it they stay. */
  putAside?: Pick<PutAside, 'take'>;
}): OutboxRelay {
  const { db, publisher, clock, intervalMs, onError } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = true;
  let failures = 0;
  let lastError: string | undefined;

  /** Moves events that are never taken out of the way; those for which there is no room come again later. */
  async function putAway(tx: Executor, rows: readonly z.infer<typeof Waiting>[]): Promise<void> {
    for (const { id, topic, event, refused } of rows) {
      const reason =
        refused >= MAX_REFUSED
          ? `the spine has refused it ${refused} times beside events that it took`
          : `its consumer has not stored it though it was published ${MAX_ATTEMPTS} times`;
      const body = JSON.stringify(event);
      const taken = await deps.putAside?.take(tx, { id: `outbox ${topic}/${id}`, source: 'outbox', reason, body });
      await tx.execute(
        taken === true
          ? sql`delete from event_outbox where id = ${Number(id)}`
          : sql`update event_outbox set due_at = ${iso(clock.now() + MAX_CONFIRM_MS)}::timestamptz where id = ${Number(id)}`,
      );
    }
  }

  async function publishSome(): Promise<{ found: number; published: number }> {
    return db.transaction(async (tx) => {
      const nowMs = clock.now();
      const rows = await tx.execute(sql`
        select id, topic, event, attributes, attempts, refused from event_outbox where due_at <= ${iso(nowMs)}::timestamptz
        order by due_at, id limit ${BATCH} for update skip locked`);
      const waiting = Waiting.array().parse(rows.rows);
      if (waiting.length === 0) return { found: 0, published: 0 };
      const hopeless = waiting.filter(({ attempts, refused }) => attempts >= MAX_ATTEMPTS || refused >= MAX_REFUSED);
      if (hopeless.length > 0) {
        await putAway(tx, hopeless);
        return { found: waiting.length, published: waiting.length };
      }
      const refused = new Set(
        await publisher.publish(
          waiting.map(({ id, topic, event, attributes }) => ({ id, topic, body: JSON.stringify(event), attributes })),
        ),
      );
      const done = waiting.filter(({ id }) => !refused.has(id));
      const kept = done.filter(({ topic }) => CONFIRMED.includes(topic));
      const due = kept.map(({ id, attempts }) => ({
        id,
        due_at: iso(nowMs + Math.min(MAX_CONFIRM_MS, CONFIRM_MS * 2 ** Math.min(attempts, 10))),
      }));
      await tx.execute(sql`
        update event_outbox o set published_at = ${iso(nowMs)}::timestamptz, attempts = o.attempts + 1, due_at = d.due_at
        from jsonb_to_recordset(${JSON.stringify(due)}::jsonb) as d(id bigint, due_at timestamptz) where o.id = d.id`);
      const ended = done.filter((row) => !kept.includes(row)).map(({ id }) => Number(id));
      await tx.execute(
        sql`delete from event_outbox where id in (select value::bigint from jsonb_array_elements_text(${JSON.stringify(ended)}::jsonb))`,
      );
      // Where nothing gets through the poll slows down; one that is refused by itself must not stand before the others.
      if (done.length > 0 && refused.size > 0) {
        await tx.execute(sql`
          update event_outbox set due_at = ${iso(nowMs + REFUSED_MS)}::timestamptz, refused = refused + 1
          where id in (select value::bigint from jsonb_array_elements_text(${JSON.stringify([...refused].map(Number))}::jsonb))`);
      }
      return { found: waiting.length, published: done.length };
    });
  }

  async function measure(): Promise<OutboxLoad> {
    const found = await db.execute(sql`
      select count(*) as rows, coalesce(extract(epoch from ${iso(clock.now())}::timestamptz - min((event ->> 'occurred_at')::timestamptz)), 0) as oldest_s from event_outbox`);
    const { rows, oldest_s } = Load.parse(found.rows[0]);
    return { rows, oldestAgeMs: Math.max(0, oldest_s * 1000) };
  }

  async function flush(): Promise<number> {
    for (let total = 0; ;) {
      const { found, published } = await publishSome();
      total += published;
      if (published < found) throw new Error(`the spine refused ${found - published} of ${found} events`);
      if (found < BATCH) return total;
    }
  }

  async function round(): Promise<void> {
    try {
      await flush();
      failures = 0;
      lastError = undefined;
    } catch (error) {
      failures += 1;
      lastError = errorWords(error);
      if (failures === 1) onError?.(error);
    }
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(
      () => {
        running = round().then(schedule);
      },
      Math.min(intervalMs * 2 ** Math.min(failures, 10), Math.max(intervalMs, MAX_WAIT_MS)),
    );
    timer.unref();
  }

  return {
    flush,
    measure,
    start: () => {
      if (!stopped) return;
      stopped = false;
      schedule();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
    get state() {
      return { lastError };
    },
  };
}
