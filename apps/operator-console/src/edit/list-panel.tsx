import type { ReactNode } from 'react';
import { ScrollX } from '@sluice/ui';
import { Problem } from './problem.tsx';

export interface Column<R> {
  readonly head: string;
  readonly cell: (row: R) => ReactNode;
  /** Figures of one width, at the right or at the left; words when absent. */
  readonly figures?: 'right' | 'left';
}

export interface ListPanelProps<R> {
  /** Of the heading, unique on the page. */
  readonly id: string;
  readonly title: string;
  /** What the list is, in a sentence. */
  readonly hint?: ReactNode;
  /** Beside the title: a search. */
  readonly tools?: ReactNode;
  /** At the end of the head: what makes a new row. */
  readonly button?: ReactNode;
  /** Above the table: the form that is open, what was made. */
  readonly children?: ReactNode;
  readonly problem: Error | null | undefined;
  /** Undefined while they are read. */
  readonly rows: readonly R[] | undefined;
  readonly keyOf: (row: R) => string;
  /** What to do first, where there is no row. */
  readonly empty: ReactNode;
  /** The first one names the row. */
  readonly columns: readonly Column<R>[];
  /** What can be done with a row. */
  readonly actions?: (row: R) => ReactNode;
  /** Below the table. */
  readonly foot?: ReactNode;
}

/** A list with what can be done to it: its head, the form that is open, the rows or what to do first. */
export function ListPanel<R>({
  id,
  title,
  hint,
  tools,
  button,
  children,
  problem,
  rows,
  keyOf,
  empty,
  columns,
  actions,
  foot,
}: ListPanelProps<R>) {
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>{title}</h2>
        {hint !== undefined && <span className="muted">{hint}</span>}
        {tools}
        <span className="grow" />
        {button}
      </div>
      <Problem error={problem} />
      {children}
      {rows === undefined && (problem === null || problem === undefined) && <p className="muted">One moment…</p>}
      {rows?.length === 0 && empty !== null && <p className="empty">{empty}</p>}
      {rows !== undefined && rows.length > 0 && (
        <ScrollX label={title}>
          <table>
            <thead>
              <tr>
                {columns.map(({ head, figures }) => (
                  <th key={head} scope="col" className={figures === 'right' ? 'num' : undefined}>
                    {head}
                  </th>
                ))}
                {actions !== undefined && (
                  <th scope="col">
                    <span className="visually-hidden">what can be done</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map((column, index) => (
                    <Cell key={column.head} column={column} row={row} names={index === 0} />
                  ))}
                  {actions !== undefined && (
                    <td className="actions">
                      <span className="inline">{actions(row)}</span>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
      {foot}
    </section>
  );
}

function Cell<R>({ column: { cell, figures }, row, names }: { column: Column<R>; row: R; names: boolean }) {
  if (names) {
    return (
      <th scope="row" className="row-name">
        {cell(row)}
      </th>
    );
  }
  return <td className={figures === undefined ? undefined : figures === 'right' ? 'num' : 'num-left'}>{cell(row)}</td>;
}
