import {
  bigint,
  boolean,
  doublePrecision,
  integer,
  jsonb,
  numeric,
  pgTable,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';
import { TOKEN_CLASSES, type CallAttempt, type TokenClass } from '@sluice/contracts';

const count = () => bigint({ mode: 'number' }).notNull();
const instant = () => timestamp({ withTimezone: true, mode: 'string' }).notNull();

/** One column for each token class. */
function tokens(): Record<`tokens_${TokenClass}`, ReturnType<typeof count>> {
  return Object.fromEntries(TOKEN_CLASSES.map((name) => [`tokens_${name}`, count()])) as Record<
    `tokens_${TokenClass}`,
    ReturnType<typeof count>
  >;
}

/**
 * The ledger's rows as statements see them; partitions, triggers and indexes are in the migrations. A test compares the
 * columns with those of the migrated database.
 */
export const ledgerTable = pgTable('ledger', {
  occurred_at: instant(),
  event_id: text().notNull(),
  kind: text({ enum: ['call', 'correction'] }).notNull(),
  corrects: text(),
  reason: text(),
  traceparent: text(),
  gateway_id: text().notNull(),
  epoch: count(),
  sequence: count(),
  request_id: text().notNull(),
  client_request_id: text(),
  tenant_id: text().notNull(),
  workspace: text().notNull(),
  workspace_id: text().notNull(),
  cell_id: text().notNull(),
  key_id: text().notNull(),
  operation: text().notNull(),
  stream: boolean().notNull(),
  model_requested: text().notNull(),
  feature: text(),
  tags: jsonb().$type<Record<string, string>>().notNull(),
  end_user: text(),
  outcome: text().notNull(),
  error_code: text(),
  status: integer().notNull(),
  abort_case: text().notNull(),
  provider: text(),
  model: text(),
  fallback: boolean().notNull(),
  fallback_reason: text(),
  decision_id: text(),
  priority: text().notNull(),
  cache: text().notNull(),
  ...tokens(),
  usage_source: text().notNull(),
  cost_nanousd: count(),
  billed_nanousd: count(),
  price_version: integer().notNull(),
  estimate_input_tokens: count(),
  estimate_output_tokens: count(),
  finish_reason: text(),
  overhead_us: count(),
  queue_ms: doublePrecision().notNull(),
  ttfb_ms: doublePrecision(),
  total_ms: doublePrecision().notNull(),
  attempts: jsonb().$type<CallAttempt[]>().notNull(),
});

const rollup = (step: 'hour' | 'day') =>
  pgTable(`rollup_${step}`, {
    bucket: instant(),
    tenant_id: text().notNull(),
    workspace: text().notNull(),
    model: text().notNull(),
    provider: text().notNull(),
    feature: text().notNull(),
    outcome: text().notNull(),
    key_id: text().notNull(),
    calls: count(),
    attempts: count(),
    ...tokens(),
    cost_nanousd: numeric({ precision: 38 }).notNull(),
    billed_nanousd: numeric({ precision: 38 }).notNull(),
  });

/** Sums of the ledger by step of time; absent values of the key are the empty text. */
export const rollupTables = { hour: rollup('hour'), day: rollup('day') } as const;
