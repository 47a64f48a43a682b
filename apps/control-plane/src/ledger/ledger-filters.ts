import { sql, type SQL } from 'drizzle-orm';
import type { LedgerScope } from '../api/ports.ts';

/** Conditions of a range's filters, but for its time, on the rows or on a rollup: both name the columns alike. */
export function scopeConditions({
  tenant,
  workspace,
  key,
  model,
  feature,
  outcome,
}: Omit<LedgerScope, 'from' | 'to'>): SQL[] {
  const out: SQL[] = [];
  if (tenant !== undefined) out.push(sql`tenant_id = ${tenant}`);
  if (workspace !== undefined) out.push(sql`workspace = ${workspace}`);
  if (key !== undefined) out.push(sql`key_id = ${key}`);
  if (model !== undefined) out.push(sql`model = ${model}`);
  if (feature !== undefined) out.push(sql`feature = ${feature}`);
  // The partial index of calls that did not end well is found by this form only.
  if (outcome !== undefined)
    out.push(outcome === 'ok' ? sql`outcome = 'ok'` : sql`outcome = ${outcome} and outcome <> 'ok'`);
  return out;
}

/** `column` within [from, to); absent bounds bound nothing. */
export function timeConditions(column: string, from: string | undefined, to: string | undefined): SQL[] {
  const out: SQL[] = [];
  if (from !== undefined) out.push(sql`${sql.identifier(column)} >= ${from}::timestamptz`);
  if (to !== undefined) out.push(sql`${sql.identifier(column)} < ${to}::timestamptz`);
  return out;
}

export function all(conditions: readonly SQL[]): SQL {
  return conditions.length === 0 ? sql`true` : sql.join([...conditions], sql` and `);
}
