import type { Cell, KillSwitch, Model, Plan, PriceBook, ProviderInput, Tenant, Workspace } from '@sluice/contracts';
import type { Call, Versioned } from './call.ts';

export interface Page<T> {
  readonly rows: readonly T[];
  readonly next_cursor: string | null;
}

/** Tables of the configuration that are edited row by row, and what a row of each is. */
export interface Tables {
  readonly tenants: Tenant;
  readonly workspaces: Workspace;
  readonly providers: ProviderInput;
  readonly cells: Cell;
  readonly plans: Plan;
  readonly models: Model;
  readonly 'kill-switches': KillSwitch;
}
export type TableName = keyof Tables;

export interface Row<T> extends Versioned<T> {
  readonly id: string;
}

/**
 * Rows of the configuration. A write names the version that it was made on, or that the row is new; who was too
 * late gets a 412.
 */
export interface TableApi {
  /** Every row, in the order of the ids. */
  list<N extends TableName>(table: N): Promise<Row<Tables[N]>[]>;
  /** Some rows: those that a search and filters leave, from a cursor on. */
  page<N extends TableName>(table: N, query: Readonly<Record<string, string>>): Promise<Page<Row<Tables[N]>>>;
  get<N extends TableName>(table: N, id: string): Promise<Row<Tables[N]>>;
  put(table: TableName, id: string, value: unknown, version: number | 'new'): Promise<void>;
  remove(table: TableName, id: string, version: number): Promise<void>;
  /** Makes a new version of a plan's price book of these prices. */
  putPrices(plan: string, prices: unknown, version: number): Promise<void>;
}

export type Prices = PriceBook['prices'];

/** Rows of a page of a list: the most that the control plane gives. */
const PAGE = 1000;

/** @param call as the whole console calls the control plane. */
export function createTableApi(call: Call): TableApi {
  const path = (table: TableName, id: string): string => `/api/${table}/${encodeURIComponent(id)}`;
  const match = (version: number | 'new'): Record<string, string> =>
    version === 'new' ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` };
  return {
    list: async <N extends TableName>(table: N) => {
      const rows: Row<Tables[N]>[] = [];
      let cursor: string | null = null;
      do {
        const answer: Response = await call(
          'GET',
          `/api/${table}?limit=${PAGE}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        const page = (await answer.json()) as { rows: Row<Tables[N]>[]; next_cursor: string | null };
        rows.push(...page.rows);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return rows;
    },
    page: async <N extends TableName>(table: N, query: Readonly<Record<string, string>>) =>
      (await (
        await call(
          'GET',
          `/api/${table}?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`,
        )
      ).json()) as Page<Row<Tables[N]>>,
    get: async <N extends TableName>(table: N, id: string) =>
      (await (await call('GET', path(table, id))).json()) as Row<Tables[N]>,
    put: async (table, id, value, version) => void (await call('PUT', path(table, id), value, match(version))),
    remove: async (table, id, version) => void (await call('DELETE', path(table, id), undefined, match(version))),
    putPrices: async (plan, prices, version) =>
      void (await call('PUT', `${path('plans', plan)}/prices`, { prices }, match(version))),
  };
}
