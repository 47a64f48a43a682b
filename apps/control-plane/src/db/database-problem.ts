import { ProblemError } from '@sluice/service-kit';
import { sqlState } from './sql-state.ts';

/** Codes of a connection that cannot be made or that broke, of Node.js. */
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);
/** Classes and codes of SQLSTATE: connection exceptions, insufficient resources, operator intervention. */
const SQL_STATES = /^(?:08|53|57P)/;
/** What the driver says in words only. */
const DRIVER_WORDS =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Cannot use a pool after calling end/i;

/** True when the server could not be asked, or broke off: nothing is wrong with the request. */
export function isDatabaseAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined && SQL_STATES.test(state)) return true;
  for (
    let at = error, depth = 0;
    typeof at === 'object' && at !== null && depth < 5;
    at = Reflect.get(at, 'cause'), depth += 1
  ) {
    // Another service was asked: the event spine, the simulated providers.
    if (Reflect.has(at, '$metadata') || (at instanceof TypeError && at.message === 'fetch failed')) return false;
    const code: unknown = Reflect.get(at, 'code');
    if (typeof code === 'string' && NETWORK_CODES.has(code)) return true;
    if (at instanceof Error && DRIVER_WORDS.test(at.message)) return true;
    if (at instanceof AggregateError && at.errors.some((one) => isDatabaseAway(one))) return true;
  }
  return false;
}

/** The answer to a request that needs the database while that is away; undefined for any other error. */
export function databaseProblem(error: unknown): ProblemError | undefined {
  if (error instanceof ProblemError || !isDatabaseAway(error)) return undefined;
  return new ProblemError(503, 'The database does not answer', {
    type: 'database-unavailable',
    detail:
      'Inference goes on, and the configuration is served from memory. Ledger, audit log, accounts and changes are back when the database is.',
    headers: { 'retry-after': '2' },
    cause: error,
  });
}
