import { z } from 'zod';
import { Instant, NanoUsd } from '../ids.ts';

const count = z.int().min(0);

/** What was used and billed since the first of the month, from the ledger; refusals are not counted. */
export const Spend = z.object({ calls: count, input_tokens: count, output_tokens: count, billed_nanousd: NanoUsd });
export type Spend = z.infer<typeof Spend>;

/**
 * `GET /internal/keys/<keyId>/spend`: what a key and its workspace spent this month. Gateways ask in the key's
 * name.
 */
export const KeySpend = z.object({
  /** Start of the month, UTC. */
  since: Instant,
  /** The ledger lags the gateway by about a second. */
  as_of: Instant,
  key: Spend,
  workspace: Spend,
});
export type KeySpend = z.infer<typeof KeySpend>;
