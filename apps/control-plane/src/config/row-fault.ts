import type { ConfigTable } from '@sluice/contracts';

/** One thing that is wrong with a row: where (`routing.chain.1.provider`, relative to the row) and what. */
export interface RowFault {
  readonly table: ConfigTable;
  readonly id: string;
  readonly path: string;
  readonly message: string;
}
