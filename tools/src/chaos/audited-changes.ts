import { randomBytes } from 'node:crypto';
import type { ChaosContext } from './chaos-step.ts';
import type { Operator } from './operator.ts';

/** Configuration changes that affect nobody, by which a test follows audit records. */
export interface AuditedChanges {
  /** When they began. */
  readonly from: string;
  /** Audit records that must be there: one for each switch that was set and one for each that was cleared. */
  readonly records: number;
  /** What is missing from the log, or there more than once; empty when every record is there exactly once. */
  faults(): Promise<string[]>;
  /** Records that the log holds now. */
  held(): Promise<number>;
}

/** Sets and clears `count` kill switches of a feature that does not exist. */
export async function makeChanges(
  { operator }: Pick<ChaosContext, 'operator'>,
  count: number,
): Promise<AuditedChanges> {
  const from = new Date(Date.now() - 1_000).toISOString();
  const ids = Array.from({ length: count }, () => `chaos-${randomBytes(6).toString('hex')}`);
  for (const id of ids) {
    await operator.call('PUT', `/api/kill-switches/${id}`, {
      id,
      scope: 'feature',
      target: id,
      message: 'A chaos test; no feature has this name.',
    });
    await operator.call('DELETE', `/api/kill-switches/${id}`);
  }
  return {
    from,
    records: 2 * count,
    held: async () =>
      [...(await countByRecord(operator, from, ids)).values()].reduce((sum, found) => sum + Math.min(1, found), 0),
    faults: async () => {
      const counts = await countByRecord(operator, from, ids);
      const missing = [...counts].filter(([, found]) => found === 0);
      const twice = [...counts].filter(([, found]) => found > 1);
      return [
        ...(missing.length > 0
          ? [`${missing.length} of ${counts.size} audit records are missing, for instance ${missing[0]?.[0]}`]
          : []),
        ...(twice.length > 0
          ? [`${twice.length} of ${counts.size} audit records are there more than once, for instance ${twice[0]?.[0]}`]
          : []),
      ];
    },
  };
}

async function countByRecord(operator: Operator, from: string, ids: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map(
    ids.flatMap((id) => [`kill_switch.set ${id}`, `kill_switch.cleared ${id}`]).map((record) => [record, 0]),
  );
  for (const row of await operator.audit('kill_switch', from)) {
    const record = `${row.type} ${row.target.id}`;
    const found = counts.get(record);
    if (found !== undefined) counts.set(record, found + 1);
  }
  return counts;
}
