import { sql } from 'drizzle-orm';
import { StateAnomaly, type Anomaly } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';

export interface AnomalyStore {
  /** Ids of those that were not held yet. */
  insert(anomalies: readonly Anomaly[]): Promise<Set<string>>;
  /** The newest, newest first. */
  recent(limit: number): Promise<StateAnomaly[]>;
}

const DEFINITION = sql.raw(
  'event_id text, occurred_at timestamptz, type text, gateway_id text, cell_id text, tenant_id text, workspace text, level text, subject text, count integer, message text, samples jsonb',
);

/** The table `anomalies`. */
export function createAnomalyStore(deps: { db: Executor }): AnomalyStore {
  return {
    insert: async (anomalies) => {
      const added = await deps.db.execute<{ event_id: string }>(sql`
        insert into anomalies (event_id, occurred_at, type, gateway_id, cell_id, tenant_id, workspace, level, subject, count, message, samples)
        select * from jsonb_to_recordset(${JSON.stringify(anomalies)}::jsonb) as a(${DEFINITION}) order by event_id
        on conflict do nothing returning event_id`);
      return new Set(added.rows.map((row) => row.event_id));
    },
    recent: async (limit) => {
      const found = await deps.db.execute(sql`
        select event_id, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at, type,
          tenant_id as tenant, workspace, count, message
        from anomalies order by anomalies.occurred_at desc, event_id desc limit ${limit}`);
      return StateAnomaly.array().parse(found.rows);
    },
  };
}
