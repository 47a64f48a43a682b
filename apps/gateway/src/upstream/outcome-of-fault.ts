import type { AttemptOutcome, FaultKind } from '@sluice/contracts';

/** How a fault stands in the record of an attempt. */
export const OUTCOME_OF_FAULT: Readonly<Record<FaultKind, AttemptOutcome>> = {
  connect: 'connect_error',
  timeout: 'timeout',
  server: 'http_error',
  overloaded: 'http_error',
  rate_limited: 'rate_limited',
  account: 'account_error',
  context_window: 'caller_error',
  model_unknown: 'http_error',
  caller: 'caller_error',
  truncated: 'truncated',
  malformed: 'malformed',
};
