import { z } from 'zod';

/** How one logical call ended. The one vocabulary of events, logs, metrics, ledger and consoles. */
export const OUTCOMES = [
  'ok',
  'client_error',
  'unauthenticated',
  'quota',
  'shed',
  'throttled',
  'cancelled',
  'interrupted',
  'upstream_error',
  'timeout',
  'internal_error',
] as const;
export const Outcome = z.enum(OUTCOMES);
export type Outcome = z.infer<typeof Outcome>;

/** Outcomes that never reached an upstream provider: they are counted and aggregated, but have no ledger row. */
export const REFUSAL_OUTCOMES = ['unauthenticated', 'quota', 'shed', 'throttled'] as const satisfies readonly Outcome[];

/** The outcome of each attempt at a provider inside a call. */
export const AttemptOutcome = z.enum([
  'ok',
  'connect_error',
  'timeout',
  'http_error',
  'rate_limited',
  'account_error',
  'caller_error',
  'truncated',
  'malformed',
  'cancelled',
  'breaker_open',
  'no_capacity',
]);
export type AttemptOutcome = z.infer<typeof AttemptOutcome>;
