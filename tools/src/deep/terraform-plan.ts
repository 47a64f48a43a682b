import { canonicalJson } from '@sluice/events';

/** What `terraform show -json` says of a plan, as far as it is read here. */
interface PlanJson {
  readonly resource_changes?: readonly {
    readonly address: string;
    readonly change: {
      readonly actions: readonly string[];
      readonly before: Readonly<Record<string, unknown>> | null;
      readonly after: Readonly<Record<string, unknown>> | null;
    };
  }[];
}

export interface PlannedChange {
  readonly address: string;
  readonly actions: string;
  /** `name: before → after` of each attribute that differs; JSON with sorted keys and numbers as text. */
  readonly attributes: readonly string[];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)) ?? 'nothing';
/** JSON text whatever the order of its keys, and numbers as they are written. */
const meaning = (value: unknown): string => canonicalJson(text(value)) ?? '';

/**
 * The changes of a plan that mean something. JSON that is only written differently (one emulator re-serialises
 * `redrive_policy`) is counted apart.
 */
export function readPlan(json: string): { changes: PlannedChange[]; rewritten: number } {
  const plan = JSON.parse(json) as PlanJson;
  const changes: PlannedChange[] = [];
  let rewritten = 0;
  for (const { address, change } of plan.resource_changes ?? []) {
    const actions = change.actions.join('+');
    if (actions === 'no-op' || actions === 'read') continue;
    const before = change.before ?? {};
    const after = change.after ?? {};
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (name) => text(before[name]) !== text(after[name]),
    );
    const different = names.filter((name) => meaning(before[name]) !== meaning(after[name]));
    if (actions === 'update' && different.length === 0) rewritten += 1;
    else
      changes.push({
        address,
        actions,
        attributes: different.map((name) => `${name}: ${meaning(before[name])} → ${meaning(after[name])}`),
      });
  }
  return { changes, rewritten };
}
