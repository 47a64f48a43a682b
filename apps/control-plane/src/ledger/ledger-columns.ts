import { getTableColumns } from 'drizzle-orm';
import type { CallSettled } from '@sluice/contracts';
import { ledgerTable } from '../db/schema.ts';

/** Name and type of each column of `ledger`; the one list that writing is generated from. */
export const LEDGER_COLUMNS: readonly { readonly name: string; readonly type: string }[] = Object.values(
  getTableColumns(ledgerTable),
).map((column) => ({
  name: column.name,
  type: column.getSQLType(),
}));

/**
 * Columns of a call as its event has them; those that may be absent are null where they are missing from the
 * record.
 */
export type LedgerRecord = Record<string, unknown>;

/** An event as the flat record of its row. */
export function ledgerRecord(event: CallSettled): LedgerRecord {
  const { schema: _schema, type: _type, usage, estimate, latency, ...flat } = event;
  return {
    ...flat,
    kind: 'call',
    tokens_input: usage.input,
    tokens_cache_read: usage.cache_read,
    tokens_cache_write: usage.cache_write,
    tokens_output: usage.output,
    tokens_reasoning: usage.reasoning,
    tokens_audio: usage.audio,
    estimate_input_tokens: estimate.input_tokens,
    estimate_output_tokens: estimate.output_tokens,
    overhead_us: latency.overhead_us,
    queue_ms: latency.queue_ms,
    ttfb_ms: latency.ttfb_ms,
    total_ms: latency.total_ms,
  };
}
