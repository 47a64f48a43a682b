import type { PlatformChange, PlatformDiff } from '@sluice/contracts';

const SIGN = { create: '+', update: '~', delete: '-' } as const;
const NOUN: Readonly<Record<string, string>> = {
  cells: 'cell',
  providers: 'provider',
  models: 'model',
  plans: 'plan',
  tenants: 'tenant',
  workspaces: 'workspace',
  keys: 'key',
  users: 'user',
};

/** A diff as lines: a sign, what, and each field with what it was and becomes. */
export function renderDiff(diff: Pick<PlatformDiff, 'changes' | 'undeclared'>): string[] {
  const lines = diff.changes.flatMap(renderChange);
  if (diff.undeclared.length > 0) {
    const named = diff.undeclared.slice(0, 20).map(({ table, id }) => `${NOUN[table] ?? table} ${id}`);
    lines.push(
      `Not in the file, and left as they are (--prune removes them): ${named.join(', ')}${diff.undeclared.length > 20 ? ` and ${diff.undeclared.length - 20} more` : ''}`,
    );
  }
  return lines;
}

function renderChange({ action, table, id, fields }: PlatformChange): string[] {
  const head = `${SIGN[action]} ${NOUN[table] ?? table} ${id}`;
  if (action === 'delete') return [head];
  return [
    head,
    ...fields.map(({ path, before, after }) =>
      action === 'create' ? `    ${path}: ${short(after)}` : `    ${path}: ${short(before)} -> ${short(after)}`,
    ),
  ];
}

const MAX_VALUE = 160;

function short(value: unknown): string {
  if (value === undefined) return '(nothing)';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

/** `2 to create, 1 to change`. */
export function renderCounts(changes: readonly PlatformChange[]): string {
  const count = (action: PlatformChange['action']): number =>
    changes.filter((change) => change.action === action).length;
  return (
    [
      ['create', 'to create'],
      ['update', 'to change'],
      ['delete', 'to remove'],
    ] as const
  )
    .filter(([action]) => count(action) > 0)
    .map(([action, words]) => `${count(action)} ${words}`)
    .join(', ');
}

/** Rows as columns of equal width, the head first. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
