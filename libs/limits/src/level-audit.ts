import type { AuditedLevel, LevelRef } from '@sluice/contracts';
import type { LevelState } from './level-state.ts';

const NONE: readonly never[] = [];

/** The levels with a window whose past is not known. */
export function unfoundedOf(levels: readonly LevelState[]): readonly LevelRef[] {
  let found: LevelRef[] | undefined;
  for (const { unfounded, tenantId, level, id } of levels) if (unfounded) (found ??= []).push({ tenantId, level, id });
  return found ?? NONE;
}

/** The levels that have windows in force. */
export function levelsWithWindows(states: Iterable<LevelState>): LevelRef[] {
  const refs: LevelRef[] = [];
  for (const { tenantId, level, id, windows } of states) if (windows.length > 0) refs.push({ tenantId, level, id });
  return refs;
}

/** What a level's windows hold now, by the counters of this process. */
export function auditOf({ tenantId, level, id, windows, timeZone }: LevelState, nowMs: number): AuditedLevel {
  return {
    tenantId,
    level,
    id,
    amended: 0,
    windows: windows.map(({ definition, meter, cut, counter }) => ({
      quota: definition.id,
      meter,
      span: definition.span,
      timeZone,
      cut,
      steps: counter.steps(nowMs),
    })),
  };
}
