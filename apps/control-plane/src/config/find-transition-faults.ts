import { isDeepStrictEqual } from 'node:util';
import type { ConfigSnapshot, ConfigTable } from '@sluice/contracts';
import type { RowFault } from './row-fault.ts';

/**
 * What may never become of a row, whatever the configuration is as a whole: a workspace keeps its UUID, by which
 * providers know it, and its tenant, whose ledger rows carry its slug; prices of a version stay, because what was
 * billed must stay explainable; a key stays in its workspace.
 */
export function findTransitionFaults(
  before: ConfigSnapshot,
  after: ConfigSnapshot,
  changes: readonly { readonly table: ConfigTable; readonly id: string }[],
): RowFault[] {
  const faults: RowFault[] = [];
  for (const { table, id } of changes) {
    const report = (path: string, message: string): void => void faults.push({ table, id, path, message });
    if (table === 'workspaces') workspace(before.workspaces[id], after.workspaces[id], report);
    else if (table === 'plans') prices(before.plans[id], after.plans[id], report);
    else if (table === 'keys') key(before.keys[id], after.keys[id], report);
  }
  return faults;
}

type Report = (path: string, message: string) => void;
type Row<T extends ConfigTable> = ConfigSnapshot[T][string] | undefined;

function workspace(old: Row<'workspaces'>, next: Row<'workspaces'>, report: Report): void {
  if (old === undefined || next === undefined) return;
  if (old.uuid !== next.uuid) report('uuid', `never changes; it is ${old.uuid}`);
  if (old.tenant !== next.tenant) report('tenant', `never changes; the workspace belongs to ${old.tenant}`);
}

function prices(old: Row<'plans'>, next: Row<'plans'>, report: Report): void {
  if (
    old === undefined ||
    next === undefined ||
    isDeepStrictEqual(old.priceBook, next.priceBook) ||
    next.priceBook.version > old.priceBook.version
  )
    return;
  report('priceBook.version', `must be above ${old.priceBook.version}, because prices of a version never change`);
}

function key(old: Row<'keys'>, next: Row<'keys'>, report: Report): void {
  if (old === undefined || next === undefined) return;
  if (old.workspace !== next.workspace) report('workspace', `never changes; the key belongs to ${old.workspace}`);
  if (old.digest !== next.digest) report('digest', 'never changes; rotate the key instead');
}
