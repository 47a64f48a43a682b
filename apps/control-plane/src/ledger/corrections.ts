import { and, eq, sql } from 'drizzle-orm';
import { TOKEN_CLASSES, type Clock, type LedgerCorrection, type LedgerRow } from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import { ledgerTable } from '../db/schema.ts';
import type { Db, Executor } from '../db/open-database.ts';
import { insertRows, type NewRow } from './insert-rows.ts';
import { readRows } from './ledger-reader.ts';
import type { Partitions } from './partitions.ts';
import { asWriter } from './writer-lock.ts';

/** Runs in the correction's transaction, for the audit record; not for one that was held already. */
export type CorrectionHook = (
  tx: Executor,
  call: { readonly tenant_id: string; readonly workspace: string },
) => Promise<unknown>;

const ZEROS = {
  estimate_input_tokens: 0,
  estimate_output_tokens: 0,
  overhead_us: 0,
  queue_ms: 0,
  ttfb_ms: null,
  total_ms: 0,
  attempts: [],
};
const AMOUNTS = [...TOKEN_CLASSES.map((name) => `tokens_${name}` as const), 'cost_nanousd', 'billed_nanousd'] as const;

/**
 * Corrections of calls. The call's own row stays; the correction is booked now, under the call's tenant, workspace,
 * model, feature and outcome, so that months that were closed stay as they were invoiced.
 */
export function createCorrections({
  db,
  clock,
  partitions,
}: {
  db: Db;
  clock: Pick<Clock, 'now'>;
  partitions: Partitions;
}) {
  return {
    /**
     * @throws ProblemError 404 for a call that the ledger does not hold, 409 when the id was used for another
     * correction of the call, 422 when the call and its corrections would sum up to less than nothing.
     */
    correct: async (
      correction: LedgerCorrection,
      hook?: CorrectionHook,
    ): Promise<{ row: LedgerRow; created: boolean }> => {
      const eventId = `${correction.request_id}.corrected.${correction.id}`;
      const occurredAt = new Date(clock.now()).toISOString();
      const deltas: Record<string, number> = {
        cost_nanousd: correction.cost_nanousd,
        billed_nanousd: correction.billed_nanousd,
      };
      for (const name of TOKEN_CLASSES) deltas[`tokens_${name}`] = correction.tokens[name] ?? 0;
      const result = await asWriter(db, async (tx) => {
        const made = await partitions.ensure(tx, []);
        const held = await tx.select().from(ledgerTable).where(eq(ledgerTable.request_id, correction.request_id));
        const call = held.find((row) => row.kind === 'call');
        if (call === undefined)
          throw new ProblemError(404, 'Not found', { detail: `The ledger holds no call ${correction.request_id}.` });
        const same = held.find((row) => row.event_id === eventId);
        if (same !== undefined) {
          if (AMOUNTS.every((name) => same[name] === deltas[name]) && same.reason === correction.reason)
            return { made, created: false };
          throw new ProblemError(409, 'Another correction has this id', {
            detail: `${correction.id} of ${correction.request_id} is held with other figures; take another id.`,
          });
        }
        for (const name of AMOUNTS) {
          const sum = held.reduce((total, row) => total + row[name], deltas[name] ?? 0);
          if (sum < 0)
            throw new ProblemError(422, 'The correction takes away more than there is', {
              detail: `${name} of the call would be ${sum}.`,
            });
          if (sum > Number.MAX_SAFE_INTEGER)
            throw new ProblemError(422, 'The correction is too large', {
              detail: `${name} of the call would be above 2^53.`,
            });
        }
        const row: NewRow = {
          ...call,
          ...ZEROS,
          ...deltas,
          kind: 'correction',
          corrects: call.event_id,
          reason: correction.reason,
          event_id: eventId,
          occurred_at: occurredAt,
        };
        await insertRows(tx, [row]);
        await hook?.(tx, call);
        return { made, created: true };
      });
      partitions.remember(result.made);
      const [row] = await readRows(
        db,
        and(eq(ledgerTable.request_id, correction.request_id), eq(ledgerTable.event_id, eventId)) ?? sql`false`,
        1,
      );
      if (row === undefined) throw new Error(`the correction ${eventId} was written and cannot be read`);
      return { row: row.row, created: result.created };
    },
  };
}
