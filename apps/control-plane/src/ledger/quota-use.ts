import { sql } from 'drizzle-orm';
import { QuotaUse, type QuotaUseRequest, type QuotaUseResponse } from '@sluice/contracts';
import type { Executor } from '../db/open-database.ts';

/**
 * Sums the ledger for a gateway that lost its quota counters, from the rows themselves: rollups know no keys and no
 * steps below an hour. A call belongs to the step of its `occurred_at`, as in the gateway.
 */
export async function readQuotaUse(
  db: Executor,
  { gateway_id, except, spans }: QuotaUseRequest,
): Promise<QuotaUseResponse> {
  const own = JSON.stringify(except);
  const answers: QuotaUse[][] = [];
  for (const { from_ms, step_ms } of spans) {
    const at =
      step_ms === undefined
        ? sql`${from_ms}::bigint`
        : sql`(floor(extract(epoch from occurred_at) * 1000 / ${step_ms}::bigint) * ${step_ms}::bigint)::bigint`;
    const found = await db.execute<Record<string, string>>(sql`
      select tenant_id, workspace_id, key_id, ${at} as at,
        sum(tokens_input + tokens_cache_read + tokens_cache_write)::text as input,
        sum(tokens_output + tokens_reasoning + tokens_audio)::text as output, sum(billed_nanousd)::text as billed
      from ledger
      where occurred_at >= to_timestamp(${from_ms}::bigint / 1000.0) and kind = 'call'
        and not (gateway_id = ${gateway_id} and exists (
          select from jsonb_to_recordset(${own}::jsonb) as e(epoch bigint, "from" bigint) where e.epoch = ledger.epoch and ledger.sequence >= e."from"))
      group by 1, 2, 3, 4`);
    // A sum that is no exact number of JavaScript fails here: a quota must not be counted wrongly.
    answers.push(
      found.rows.map((row) =>
        QuotaUse.parse({
          tenant_id: row['tenant_id'],
          workspace_id: row['workspace_id'],
          key_id: row['key_id'],
          at_ms: Number(row['at']),
          input_tokens: Number(row['input']),
          output_tokens: Number(row['output']),
          billed_nanousd: Number(row['billed']),
        }),
      ),
    );
  }
  return { spans: answers };
}
