import type { LedgerRow } from '@sluice/contracts';

/** A piece of a request's time. */
export interface Span {
  readonly label: string;
  /** From the request's arrival. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly kind: 'own' | 'queue' | 'wait' | 'body' | 'failed';
  readonly note: string;
}

/**
 * One request's way through the stages, as the ledger's row tells it: our own work, then each attempt (waiting for
 * a slot, waiting for the first byte, the answer). Pauses between attempts are not in the row; what is left over is
 * shown as such.
 */
export function spansOf(row: LedgerRow): Span[] {
  const spans: Span[] = [];
  let at = 0;
  const add = (label: string, durationMs: number, kind: Span['kind'], note: string): void => {
    if (durationMs <= 0 && kind !== 'failed') return;
    spans.push({ label, startMs: at, durationMs, kind, note });
    at += durationMs;
  };
  add(
    'envelope to route',
    row.latency.overhead_us / 1000,
    'own',
    'authenticate, place, read the body, resolve, admit, route, translate: our own time up to the first byte',
  );
  for (const attempt of row.attempts) {
    const name = `attempt ${attempt.index + 1}, ${attempt.provider}`;
    add(`${name}: queue`, attempt.queue_ms, 'queue', 'waiting for a slot of the provider');
    if (attempt.outcome !== 'ok' && attempt.ttfb_ms === undefined) {
      add(
        name,
        attempt.duration_ms,
        'failed',
        `${attempt.outcome.replaceAll('_', ' ')}${attempt.status === undefined ? '' : `, status ${attempt.status}`}`,
      );
      continue;
    }
    const ttfb = attempt.ttfb_ms ?? attempt.duration_ms;
    add(`${name}: first byte`, ttfb, 'wait', 'waiting for the provider');
    add(
      `${name}: answer`,
      Math.max(0, attempt.duration_ms - ttfb),
      attempt.outcome === 'ok' ? 'body' : 'failed',
      attempt.outcome === 'ok' ? 'relayed as it came' : attempt.outcome.replaceAll('_', ' '),
    );
  }
  const left = row.latency.total_ms - at;
  if (left > Math.max(5, row.latency.total_ms * 0.02))
    add('between and after', left, 'own', 'pauses between attempts, the last bytes to the caller, settling');
  return spans;
}
