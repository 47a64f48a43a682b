import { TOKEN_CLASSES } from '@sluice/contracts';

export type RollupStep = 'hour' | 'day';

const KEY = ['tenant_id', 'workspace', 'model', 'provider', 'feature', 'outcome', 'key_id'] as const;
const SUMS = ['calls', 'attempts', ...TOKEN_CLASSES.map((name) => `tokens_${name}`), 'cost_nanousd', 'billed_nanousd'];

/** Columns of a rollup in the order of all statements here. */
export const ROLLUP_COLUMNS: readonly string[] = ['bucket', ...KEY, ...SUMS];
/** The sums of a rollup, without its key. */
export const ROLLUP_SUMS: readonly string[] = SUMS;
/**
 * Columns of `ledger` that rollups are made of; `attempts` as a number. A correction is no call: it only moves the
 * sums.
 */
export const ROLLUP_SOURCE = `occurred_at, kind, ${KEY.join(', ')}, jsonb_array_length(attempts) as attempts, ${SUMS.slice(2).join(', ')}`;

const start = (step: RollupStep, at: string): string =>
  `date_trunc('${step}', ${at} at time zone 'UTC') at time zone 'UTC'`;

/**
 * Sums by step of the rows of `source`, a relation with the columns of `ROLLUP_SOURCE`. What is absent is the empty
 * text.
 */
export function sumRows(step: RollupStep, source: string): string {
  return `select ${start(step, 'occurred_at')} as bucket, tenant_id, workspace,
      coalesce(model, '') as model, coalesce(provider, '') as provider, coalesce(feature, '') as feature, outcome, key_id,
      count(*) filter (where kind = 'call') as calls, sum(attempts)::bigint as attempts,
      ${TOKEN_CLASSES.map((name) => `sum(tokens_${name})::bigint as tokens_${name}`).join(', ')},
      sum(cost_nanousd) as cost_nanousd, sum(billed_nanousd) as billed_nanousd
    from ${source} group by 1, 2, 3, 4, 5, 6, 7, 8`;
}

/** Hours summed up to days; `source` has the columns of a rollup. */
export function sumHours(source: string): string {
  return `select ${start('day', 'bucket')} as bucket, ${KEY.join(', ')}, ${SUMS.map((name) => `sum(${name}) as ${name}`).join(', ')}
    from ${source} group by 1, 2, 3, 4, 5, 6, 7, 8`;
}

/** Adds the rows that `select` makes, in the order of `ROLLUP_COLUMNS`, to a rollup. */
export function addToRollup(step: RollupStep, select: string): string {
  return `insert into rollup_${step} (${ROLLUP_COLUMNS.join(', ')}) ${select}
    on conflict (workspace, bucket, model, provider, feature, outcome, tenant_id, key_id) do update
    set ${SUMS.map((name) => `${name} = rollup_${step}.${name} + excluded.${name}`).join(', ')}`;
}
