import { z } from 'zod';
import { KeyId, Name, Uuid } from '../ids.ts';
import { LEVELS } from '../policy.ts';

/** The calls of one gateway that are in a level's counters: these runs of `epoch`, and all of earlier epochs. */
export const CountedRuns = z.strictObject({
  gateway_id: Name,
  epoch: z.int().min(0),
  runs: z.array(z.tuple([z.int().min(1), z.int().min(1)])).max(10_000),
  /** Last sequence of each earlier epoch that the gateway still had on its disk. */
  earlier: z.array(z.strictObject({ epoch: z.int().min(0), last: z.int().min(1) })).max(1_000),
});
export type CountedRuns = z.infer<typeof CountedRuns>;

/**
 * Use from `from_ms` (epoch milliseconds) to `to_ms`, as one sum at `from_ms` and with corrections at the time at
 * which they were booked, as on the invoice; or in steps that begin at multiples of `step_ms`, with corrections at
 * the time of the call that they correct.
 */
export const AuditSpan = z.strictObject({
  from_ms: z.int(),
  to_ms: z.int().optional(),
  step_ms: z.int().min(1).optional(),
});
export type AuditSpan = z.infer<typeof AuditSpan>;

/** `POST /internal/quota-audit`: what a gateway needs to compare the counters of some levels with the ledger. */
export const QuotaAuditRequest = z.strictObject({
  levels: z
    .array(
      z.strictObject({
        tenant_id: Name,
        level: z.enum(LEVELS),
        id: z.string().min(1).max(200),
        /** Calls of these gateways that are not named here are left out; those of other gateways are all summed. */
        counted: z.array(CountedRuns).max(1_000),
        spans: z.array(AuditSpan).max(100),
      }),
    )
    .max(200),
});
export type QuotaAuditRequest = z.infer<typeof QuotaAuditRequest>;

export const AuditedUse = z.object({
  at_ms: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  billed_nanousd: z.int(),
});
export type AuditedUse = z.infer<typeof AuditedUse>;

/** One answer for each level of the request, in its order. */
export const QuotaAuditResponse = z.object({
  levels: z.array(
    z.object({
      /** The ledger holds every call that was named as counted; else the sums are too small. */
      held: z.boolean(),
      spans: z.array(z.array(AuditedUse)),
    }),
  ),
});
export type QuotaAuditResponse = z.infer<typeof QuotaAuditResponse>;

/** `GET /internal/corrections`: how many corrections of calls of each key were booked in the last 45 days. */
export const CorrectionCounts = z.object({
  keys: z.array(z.object({ tenant_id: Name, workspace_id: Uuid, key_id: KeyId, corrections: z.int() })),
});
export type CorrectionCounts = z.infer<typeof CorrectionCounts>;
