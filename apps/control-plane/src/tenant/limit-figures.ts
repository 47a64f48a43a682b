import { ProblemError } from '@sluice/service-kit';
import type { TenantFigures } from './tenant-figures.ts';

/**
 * Dear questions that the database answers at once: of everybody, and of one workspace. Sign-ins and the ledger
 * share its 12 connections.
 */
export const ASKED_AT_ONCE = 6;
export const ASKED_OF_ONE = 2;
/** Of one workspace; a page asks about four. */
export const WAITING_OF_ONE = 32;

/**
 * The same figures, with few questions at once: what reads many rows waits for its turn, so that nobody's console
 * takes the database from sign-ins, ledger and all other customers. What waits goes in the order of its coming, but
 * never before a workspace's own place is free. Methods also throw ProblemError 503 while too much of one workspace
 * waits.
 */
export function limitFigures(figures: TenantFigures): TenantFigures {
  const running = new Map<string, number>();
  const waiting: { readonly workspace: string; readonly go: () => void }[] = [];
  let total = 0;

  const free = (workspace: string): boolean => total < ASKED_AT_ONCE && (running.get(workspace) ?? 0) < ASKED_OF_ONE;

  function enter(workspace: string): void {
    total += 1;
    running.set(workspace, (running.get(workspace) ?? 0) + 1);
  }

  function leave(workspace: string): void {
    total -= 1;
    const left = (running.get(workspace) ?? 1) - 1;
    if (left === 0) running.delete(workspace);
    else running.set(workspace, left);
    const at = waiting.findIndex((one) => free(one.workspace));
    const [next] = at < 0 ? [] : waiting.splice(at, 1);
    if (next === undefined) return;
    enter(next.workspace);
    next.go();
  }

  async function inTurn<T>(workspace: string, ask: () => Promise<T>): Promise<T> {
    if (free(workspace)) enter(workspace);
    else {
      if (waiting.filter((one) => one.workspace === workspace).length >= WAITING_OF_ONE) {
        throw new ProblemError(503, 'Too many questions at once', {
          detail: 'Wait until some of those of this workspace are answered.',
          headers: { 'retry-after': '2' },
        });
      }
      await new Promise<void>((go) => waiting.push({ workspace, go }));
    }
    try {
      return await ask();
    } finally {
      leave(workspace);
    }
  }

  return {
    ...figures,
    usageGroups: (range) => inTurn(range.workspace, () => figures.usageGroups(range)),
    requests: (search) => inTurn(search.workspace, () => figures.requests(search)),
    series: (range) => inTurn(range.workspace, () => figures.series(range)),
  };
}
