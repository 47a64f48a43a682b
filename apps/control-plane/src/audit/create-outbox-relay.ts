import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { TopicName, type Clock, type EventPublisher } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';

export interface OutboxRelay {
  start(): void;
  /** Publishes what waits, now; resolves with how many were published. */
  flush(): Promise<number>;
  /** Ends polling after the running round. */
  stop(): Promise<void>;
  readonly state: { readonly lastError: string | undefined };
}

const BATCH = 10;
const MAX_WAIT_MS = 10_000;
/** Published rows are kept this long, to be looked at. */
const KEEP = sql.raw(`interval '1 day'`);

const Waiting = z.object({ id: z.coerce.string(), topic: TopicName, event: z.unknown(), attributes: z.record(z.string(), z.string()) });

/**
 * Publishes rows of `event_outbox` at least once, oldest first. Several processes may relay at once: each locks its own
 * rows. While the spine does not answer, rows wait and the poll slows down to one in ten seconds.
 */
export function createOutboxRelay(deps: {
  db: Db;
  publisher: Pick<EventPublisher, 'publish'>;
  clock: Pick<Clock, 'now'>;
  /** Between looks while nothing waits, milliseconds. */
  intervalMs: number;
  onError?: (error: unknown) => void;
}): OutboxRelay {
  const { db, publisher, clock, intervalMs, onError } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = true;
  let failures = 0;
  let lastError: string | undefined;

  async function publishSome(): Promise<{ found: number; published: number }> {
    return db.transaction(async (tx) => {
      const rows = await tx.execute(sql`
        select id, topic, event, attributes from event_outbox where published_at is null order by id limit ${BATCH} for update skip locked`);
      const waiting = Waiting.array().parse(rows.rows);
      if (waiting.length === 0) return { found: 0, published: 0 };
      const refused = new Set(
        await publisher.publish(waiting.map(({ id, topic, event, attributes }) => ({ id, topic, body: JSON.stringify(event), attributes }))),
      );
      const done = waiting.filter(({ id }) => !refused.has(id)).map(({ id }) => Number(id));
      const at = new Date(clock.now()).toISOString();
      await tx.execute(sql`
        update event_outbox set published_at = ${at}::timestamptz
        where id in (select value::bigint from jsonb_array_elements_text(${JSON.stringify(done)}::jsonb))`);
      await tx.execute(sql`delete from event_outbox where published_at < ${at}::timestamptz - ${KEEP}`);
      return { found: waiting.length, published: done.length };
    });
  }

  async function flush(): Promise<number> {
    for (let total = 0; ; ) {
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
      lastError = error instanceof Error ? error.message : String(error);
      if (failures === 1) onError?.(error);
    }
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      running = round().then(schedule);
    }, Math.min(intervalMs * 2 ** Math.min(failures, 10), Math.max(intervalMs, MAX_WAIT_MS)));
    timer.unref();
  }

  return {
    flush,
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
