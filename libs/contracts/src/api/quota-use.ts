import { z } from 'zod';
import { KeyId, Name, Uuid } from '../ids.ts';

/** A gateway's usage events of an epoch from a sequence on. */
export const EventsFrom = z.strictObject({ epoch: z.int().min(1), from: z.int().min(1) });
export type EventsFrom = z.infer<typeof EventsFrom>;

/** `POST /internal/quota-use`: what a gateway needs to count its quota windows anew. */
export const QuotaUseRequest = z.strictObject({
  gateway_id: Name,
  /**
   * Calls of this gateway that it counts from its own disk; they are left out, whether the ledger has them yet or
   * not.
   */
  except: z.array(EventsFrom).max(10_000),
  /**
   * Use since `from_ms` (epoch milliseconds), in steps that begin at multiples of `step_ms`, or as one sum when
   * that is absent.
   */
  spans: z.array(z.strictObject({ from_ms: z.int(), step_ms: z.int().min(1).optional() })).max(100),
});
export type QuotaUseRequest = z.infer<typeof QuotaUseRequest>;

/** Settled calls of one key in one step. Corrections are not in it: they change bills, not quotas. */
export const QuotaUse = z.object({
  tenant_id: Name,
  workspace_id: Uuid,
  key_id: KeyId,
  /** Start of the step; `from_ms` of a span without steps. */
  at_ms: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  billed_nanousd: z.int(),
});
export type QuotaUse = z.infer<typeof QuotaUse>;

/** One list for each span of the request, in its order. */
export const QuotaUseResponse = z.object({ spans: z.array(z.array(QuotaUse)) });
export type QuotaUseResponse = z.infer<typeof QuotaUseResponse>;
