import type { StatementView, UsageView } from '@sluice/contracts';

type Cell = string | number | null;

/**
 * RFC 4180. A text that a spreadsheet would take for a formula is given a leading apostrophe: end users and
 * features are words of the customer's own callers.
 */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The groups of a usage view. Money in whole nanodollars; empty for a role that may not read cost. */
export function usageCsv(view: UsageView): string {
  const head = [
    view.by,
    'name',
    'calls',
    'input_tokens',
    'output_tokens',
    'billed_nanousd',
    'previous_calls',
    'previous_input_tokens',
    'previous_output_tokens',
    'previous_billed_nanousd',
  ];
  return toCsv([
    head,
    ...view.groups.map((group) => [
      group.rest ? '(rest)' : group.key,
      group.name,
      group.calls,
      group.input_tokens,
      group.output_tokens,
      group.billed_nanousd,
      group.previous?.calls ?? null,
      group.previous?.input_tokens ?? null,
      group.previous?.output_tokens ?? null,
      group.previous?.billed_nanousd ?? null,
    ]),
  ]);
}

/**
 * A statement as lines: what each is, of which span or model, tokens, and whole nanodollars. The lines that count
 * add up to `total`.
 */
export function statementCsv(view: StatementView): string {
  return toCsv([
    ['line', 'item', 'from', 'to', 'tokens', 'nanousd', 'counts'],
    ...view.segments.flatMap((segment): Cell[][] => [
      ['fee', segment.plan_name, segment.from, segment.to, null, segment.fee_nanousd, 'yes'],
      ['allotment', segment.plan_name, segment.from, segment.to, segment.allotment_tokens, null, 'no'],
      ['overage', segment.plan_name, segment.from, segment.to, segment.overage_tokens, segment.overage_nanousd, 'yes'],
    ]),
    ['waived above the cap', null, view.from, view.to, null, -view.waived_nanousd, 'yes'],
    ['credits', null, view.from, view.to, null, view.credits_nanousd, 'yes'],
    ...view.usage.map((use): Cell[] => [
      'value by price book',
      use.model,
      view.from,
      view.to,
      use.tokens,
      use.value_nanousd,
      'no',
    ]),
    ['total', view.month, view.from, view.to, view.used_tokens, view.total_nanousd, 'sum'],
  ]);
}
