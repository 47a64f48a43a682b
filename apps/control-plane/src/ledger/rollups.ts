import { TOKEN_CLASSES } from '@sluice/contracts';

const KEY = ['tenant_id', 'workspace', 'model', 'provider', 'feature', 'outcome'] as const;
const SUMS = ['calls', 'attempts', ...TOKEN_CLASSES.map((name) => `tokens_${name}`), 'cost_nanousd', 'billed_nanousd'];

/** Adds the rows of `source` (a relation with the columns of `ledger`) to a rollup. What is absent is the empty text. */
export function addToRollup(step: 'hour' | 'day', source: string): string {
  return `insert into rollup_${step} (bucket, ${KEY.join(', ')}, ${SUMS.join(', ')})
    select date_trunc('${step}', occurred_at at time zone 'UTC') at time zone 'UTC', tenant_id, workspace,
      coalesce(model, ''), coalesce(provider, ''), coalesce(feature, ''), outcome,
      count(*), sum(jsonb_array_length(attempts)), ${TOKEN_CLASSES.map((name) => `sum(tokens_${name})`).join(', ')},
      sum(cost_nanousd), sum(billed_nanousd)
    from ${source} group by 1, 2, 3, 4, 5, 6, 7
    on conflict (workspace, bucket, model, provider, feature, outcome, tenant_id) do update
    set ${SUMS.map((name) => `${name} = rollup_${step}.${name} + excluded.${name}`).join(', ')}`;
}
