import { z } from 'zod';
import { LedgerSummary, OperatorState, Tenant, totalTokens, type StackFile } from '@sluice/contracts';
import { calendarOf } from '@sluice/limits';
import { MONTH_WINDOW } from '../demo/demo-tenants.ts';
import { getJson, type OperatorApi } from './operator-api.ts';

/** What a gateway answers on `GET /v1/usage`, as far as it is compared. */
const Usage = z.object({
  workspace: z.string(),
  quotas: z.array(
    z.object({
      level: z.string(),
      window: z.string(),
      meter: z.string(),
      used: z.number(),
      resets_at: z.string().nullable(),
    }),
  ),
});
type Usage = z.infer<typeof Usage>;

const HeldTenant = z.object({ value: Tenant });

/** One quota window that counts all tokens of a calendar month, beside the ledger's sum of the same calls. */
export interface CountedMonth {
  readonly owner: string;
  /** Whose calls the window counts. */
  readonly scope: { readonly tenant: string } | { readonly workspace: string };
  /** Start of the month, RFC 3339. */
  readonly from: string;
  readonly counted: number;
  readonly inLedger: number;
}

/** Reads the monthly token windows of every demo key and what the ledger holds of them. */
export async function countedMonths(api: OperatorApi, stack: StackFile): Promise<CountedMonth[]> {
  const { tenants } = OperatorState.parse(await api.get('/api/state'));
  const months = new Map<string, Omit<CountedMonth, 'inLedger'>>();
  for (const key of Object.values(stack.keys)) {
    const usage = Usage.parse(
      await getJson(`${stack.services.gateway.url}/v1/usage`, { authorization: `Bearer ${key}` }),
    );
    const name = tenants.find(({ workspaces }) => workspaces.includes(usage.workspace))?.tenant;
    if (name === undefined) throw new Error(`no tenant holds the workspace ${usage.workspace}`);
    const { value: tenant } = HeldTenant.parse(await api.get(`/api/tenants/${name}`));
    for (const month of monthsOf(usage, tenant)) months.set(month.owner, month);
  }
  return Promise.all(
    [...months.values()].map(async (month) => {
      const summary = LedgerSummary.parse(
        await api.get(`/api/ledger/summary?${new URLSearchParams({ ...month.scope, from: month.from })}`),
      );
      return { ...month, inLedger: totalTokens(summary.tokens) };
    }),
  );
}

/** The windows of that name that count all tokens, of tenant and workspace; their months are those of the tenant's zone. */
export function monthsOf(
  { workspace, quotas }: Usage,
  { id: tenant, timeZone }: Pick<Tenant, 'id' | 'timeZone'>,
): Omit<CountedMonth, 'inLedger'>[] {
  return quotas.flatMap(({ level, window, meter, used, resets_at }) => {
    if (
      window !== MONTH_WINDOW ||
      meter !== 'total_tokens' ||
      resets_at === null ||
      (level !== 'tenant' && level !== 'workspace')
    )
      return [];
    const { startMs } = calendarOf(timeZone, 'month').periodAt(Date.parse(resets_at) - 1);
    const name = level === 'tenant' ? tenant : workspace;
    return [
      {
        owner: `${level} ${name}`,
        scope: level === 'tenant' ? { tenant } : { workspace },
        from: new Date(startMs).toISOString(),
        counted: used,
      },
    ];
  });
}

/** Sentences about counters that are not the sum of the ledger; empty when all are. */
export function reconcileMonths(months: readonly CountedMonth[]): string[] {
  return months.flatMap(({ owner, from, counted, inLedger }) =>
    counted === inLedger
      ? []
      : [`the quota of ${owner} has counted ${counted} tokens since ${from}, the ledger holds ${inLedger}`],
  );
}
