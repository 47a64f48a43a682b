import { sql } from 'drizzle-orm';
import { REFUSAL_OUTCOMES, TOKEN_CLASSES } from '@sluice/contracts';
import type { Db } from '../db/open-database.ts';
import { all, timeConditions } from '../ledger/ledger-filters.ts';
import { summaryPieces } from '../ledger/summary-pieces.ts';
import { readMeters } from '../tenant/figures-reader.ts';

export interface ModelUse {
  readonly model: string | null;
  readonly calls: number;
  readonly tokens: number;
  readonly valueNanoUsd: number;
}

/** What billing asks of the ledger; all of a whole tenant. */
export interface BillingReader {
  /** Start of the first day with a call, epoch milliseconds; undefined before there is one. */
  firstDayMs(tenant: string): Promise<number | undefined>;
  tokens(tenant: string, fromMs: number, toMs: number): Promise<number>;
  byModel(tenant: string, fromMs: number, toMs: number): Promise<ModelUse[]>;
  /** Corrections that move no tokens, negative in the customer's favour. */
  credits(tenant: string, fromMs: number, toMs: number): Promise<number>;
  /** Tokens of each UTC day in [fromMs, toMs), oldest first, zeros included. */
  daily(tenant: string, fromMs: number, toMs: number): Promise<number[]>;
}

const DAY_MS = 86_400_000;
const NOT_REFUSED = sql.raw(`outcome not in (${REFUSAL_OUTCOMES.map((name) => `'${name}'`).join(', ')})`);
const TOKENS = TOKEN_CLASSES.map((name) => `tokens_${name}`).join(' + ');
const NO_TOKENS = sql.raw(TOKEN_CLASSES.map((name) => `tokens_${name} = 0`).join(' and '));

export function createPostgresBillingReader({ db }: { db: Db }): BillingReader {
  return {
    firstDayMs: async (tenant) => {
      const found = await db.execute<{ ms: string | null }>(
        sql`select (extract(epoch from min(bucket)) * 1000)::bigint::text as ms from rollup_day where tenant_id = ${tenant}`,
      );
      const ms = found.rows[0]?.ms;
      return ms === null || ms === undefined ? undefined : Number(ms);
    },
    tokens: async (tenant, fromMs, toMs) => (await readMeters(db, { tenant }, fromMs, toMs)).total_tokens,
    byModel: async (tenant, fromMs, toMs) => {
      const pieces = summaryPieces(fromMs, toMs);
      if (pieces.length === 0) return [];
      const parts = pieces.map(({ from, start, end }) => {
        const time = timeConditions(
          from === 'ledger' ? 'occurred_at' : 'bucket',
          new Date(start).toISOString(),
          new Date(end).toISOString(),
        );
        const calls = sql.raw(from === 'ledger' ? "case kind when 'call' then 1 else 0 end" : 'calls');
        return sql`select nullif(model, '') as model, ${calls} as calls, ${sql.raw(TOKENS)} as tokens, billed_nanousd from ${sql.identifier(from)}
          where ${all([sql`tenant_id = ${tenant}`, ...time, NOT_REFUSED])}`;
      });
      const found = await db.execute<{ model: string | null; calls: string; tokens: string; value: string }>(sql`
        select model, sum(calls)::text as calls, sum(tokens)::text as tokens, sum(billed_nanousd)::text as value
        from (${sql.join(parts, sql` union all `)}) pieces group by model order by sum(billed_nanousd) desc, model nulls last`);
      return found.rows.map((row) => ({
        model: row.model,
        calls: Number(row.calls),
        tokens: Math.max(0, Number(row.tokens)),
        valueNanoUsd: Number(row.value),
      }));
    },
    credits: async (tenant, fromMs, toMs) => {
      const time = timeConditions('occurred_at', new Date(fromMs).toISOString(), new Date(toMs).toISOString());
      const found = await db.execute<{ sum: string }>(sql`
        select coalesce(sum(billed_nanousd), 0)::text as sum from ledger where ${all([sql`tenant_id = ${tenant}`, sql`kind = 'correction'`, NO_TOKENS, ...time])}`);
      return Number(found.rows[0]?.sum ?? 0);
    },
    daily: async (tenant, fromMs, toMs) => {
      const found = await db.execute<{ ms: string; tokens: string }>(sql`
        select (extract(epoch from bucket) * 1000)::bigint::text as ms, sum(${sql.raw(TOKENS)})::text as tokens from rollup_day
        where ${all([sql`tenant_id = ${tenant}`, ...timeConditions('bucket', new Date(fromMs).toISOString(), new Date(toMs).toISOString()), NOT_REFUSED])} group by bucket`);
      const byDay = new Map(found.rows.map((row) => [Number(row.ms), Math.max(0, Number(row.tokens))]));
      const days: number[] = [];
      for (let ms = fromMs; ms < toMs; ms += DAY_MS) days.push(byDay.get(ms) ?? 0);
      return days;
    },
  };
}
