import type { Deadlines, Provider, UpstreamFault } from '@sluice/contracts';

/**
 * A connection that does not come to stand counts as the provider's failure where it had at least this long,
 * milliseconds.
 */
const CONNECT_FAILS_AFTER_MS = 5_000;

/**
 * Whether a fault says something about the provider's health, and so feeds the breaker that all customers share:
 * connection errors, 5xx, answers that are cut or cannot be read, and silence for as long as the provider itself is
 * given. What the caller or our account caused does not, nor any other 4xx, nor a deadline that one workspace has
 * set shorter.
 */
export function countsAgainst(fault: UpstreamFault, deadlines: Deadlines, provider: Provider): boolean {
  switch (fault.kind) {
    case 'caller':
    case 'context_window':
    case 'model_unknown':
    case 'rate_limited':
    case 'account':
      return false;
    case 'timeout':
      return (
        (fault.deadline === 'idle' ? deadlines.idleMs : deadlines.firstByteMs) >= provider.breaker.silenceFailsAfterMs
      );
    case 'connect':
      return fault.deadline === undefined || deadlines.connectMs >= CONNECT_FAILS_AFTER_MS;
    case 'server':
      // 408, 409 and 425 may be tried again, but are no failure of the provider's.
      return fault.status === undefined || fault.status < 400 || fault.status >= 500;
    default:
      return true;
  }
}
