import type { Database } from '../db/open-database.ts';

export interface Fill {
  readonly rows: number;
  /** First instant, epoch milliseconds. */
  readonly start: number;
  readonly days: number;
}

/** Tenants `tenant-0` to `tenant-9`; a third of all calls are of `tenant-0`, which has two workspaces. */
export const TENANTS = 10;
const CHUNK = 250_000;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Fills the ledger with made-up calls, spread evenly over the days, by SQL alone; rollups stay empty. Tells how far
 * it is.
 */
export async function fillLedger(
  { pool }: Database,
  { rows, start, days }: Fill,
  tell: (filled: number) => void,
): Promise<void> {
  const stepMs = (days * 86_400_000) / rows;
  const client = await pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    for (let day = 0; day <= days + 27; day += 27)
      await client.query('select ledger_partition($1)', [new Date(start + day * 86_400_000)]);
    for (let from = 0; from < rows; from += CHUNK) {
      const to = Math.min(from + CHUNK, rows) - 1;
      await client.query(CHUNK_SQL, [new Date(start), stepMs, ulidTime(start + from * stepMs), from, to]);
      tell(to + 1);
    }
    await client.query('reset statement_timeout');
  } finally {
    client.release();
  }
}

function ulidTime(ms: number): string {
  let text = '';
  for (let rest = Math.floor(ms), i = 0; i < 10; i += 1, rest = Math.floor(rest / 32))
    text = `${CROCKFORD[rest % 32]}${text}`;
  return text;
}

/** `h` is a cheap hash of the number, so that what a row has does not follow from when it happened. */
const CHUNK_SQL = `
insert into ledger (occurred_at, event_id, kind, gateway_id, epoch, sequence, request_id, tenant_id, workspace, workspace_id, cell_id, key_id, operation, stream,
  model_requested, feature, tags, end_user, outcome, status, abort_case, provider, model, fallback, priority, cache, tokens_input, tokens_cache_read, tokens_cache_write,
  tokens_output, tokens_reasoning, tokens_audio, usage_source, cost_nanousd, billed_nanousd, price_version, estimate_input_tokens, estimate_output_tokens, finish_reason,
  overhead_us, queue_ms, ttfb_ms, total_ms, attempts)
select $1::timestamptz + n * $2::float8 * interval '1 millisecond', 'req_' || $3::text || lpad(n::text, 16, '0') || '.settled', 'call', 'gw-' || h % 3, 1, n + 1,
  'req_' || $3::text || lpad(n::text, 16, '0'), 'tenant-' || t, 'tenant-' || t || '-' || case when t = 0 then h / 7 % 2 else 0 end, '3f2c1c9e-0d7b-4a55-9d3b-1f0a4f1e2a10',
  'cell-shared-1', 'key0000' || t, 'chat', h % 2 = 0, m, case when h % 4 > 0 then 'feature-' || h / 11 % 8 end, '{"team":"search"}', 'user-' || h % 50000,
  o, case when o = 'ok' then 200 when o = 'timeout' then 504 else 502 end, 'complete', (array['primary', 'secondary', 'tertiary'])[h / 13 % 3 + 1], m, h % 50 = 0, 'standard', 'off',
  100 + h % 900, h % 3, 0, 20 + h % 400, 0, 0, 'provider', 100000 + h % 900000, 150000 + h % 900000, 1, 120, 256, 'stop',
  300 + h % 600, (h % 100) / 50.0, 120 + h % 500, 400 + h % 4000,
  jsonb_build_array(jsonb_build_object('index', 0, 'provider', 'primary', 'credential', 'main', 'model', m, 'provider_model', m, 'outcome', 'ok', 'status', 200,
    'usage', jsonb_build_object('input', 100 + h % 900, 'cache_read', h % 3, 'cache_write', 0, 'output', 20 + h % 400, 'reasoning', 0, 'audio', 0),
    'usage_source', 'provider', 'cost_nanousd', 100000 + h % 900000, 'queue_ms', 0, 'ttfb_ms', 120, 'duration_ms', 400))
from generate_series($4::bigint, $5::bigint) n
  cross join lateral (select (n * 2654435761 % 4294967291)::bigint as h) a
  cross join lateral (select case when h % 3 = 0 then 0 else h / 3 % 10 end as t, (array['model-a', 'model-b', 'model-c', 'model-d', 'model-e'])[h / 17 % 5 + 1] as m,
    case when h / 19 % 100 < 95 then 'ok' when h / 19 % 100 < 98 then 'upstream_error' else 'timeout' end as o) b
order by n`;
