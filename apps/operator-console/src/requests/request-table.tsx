import type { LedgerRow } from '@sluice/contracts';
import { Badge, formatCallUsd, formatCount, formatDuration, ScrollX } from '@sluice/ui';
import { Link } from '../routing/location.tsx';

/** How an outcome is told: well, the caller's doing, or bad. */
export function OutcomeBadge({ outcome }: { outcome: LedgerRow['outcome'] }) {
  const tone = outcome === 'ok' ? 'good' : outcome === 'cancelled' || outcome === 'client_error' ? 'plain' : 'bad';
  return <Badge tone={tone}>{outcome.replaceAll('_', ' ')}</Badge>;
}

/** The time of today, or with its day. */
export function whenShort(instant: string, now = new Date()): string {
  const at = new Date(instant);
  const time = at.toLocaleTimeString('en-GB');
  return at.toDateString() === now.toDateString()
    ? time
    : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time}`;
}

/** Rows of the ledger, each a link to its request. */
export function RequestTable({
  rows,
  problem,
  withTenant,
}: {
  rows: readonly LedgerRow[] | undefined;
  problem: string | undefined;
  withTenant: boolean;
}) {
  if (problem !== undefined) {
    return (
      <p className="notice bad" role="alert">
        {problem}
      </p>
    );
  }
  if (rows === undefined) return <p className="muted">One moment…</p>;
  if (rows.length === 0)
    return (
      <p className="empty">
        The ledger has no such call. Requests that were refused before a provider was asked are not in it: they are in
        the bars above and in the gateway's log.
      </p>
    );
  return (
    <ScrollX label="Requests">
      <table>
        <thead>
          <tr>
            <th scope="col">time</th>
            {withTenant && <th scope="col">workspace</th>}
            <th scope="col">request</th>
            <th scope="col">model</th>
            <th scope="col">outcome</th>
            <th scope="col" className="num">
              tokens
            </th>
            <th scope="col" className="num">
              took
            </th>
            <th scope="col" className="num">
              billed
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.event_id}>
              <td className="num-left">
                <time dateTime={row.occurred_at}>{whenShort(row.occurred_at)}</time>
              </td>
              {withTenant && <td>{row.workspace}</td>}
              <td>
                <Link to={`/requests/${encodeURIComponent(row.request_id)}`} className="mono">
                  …{row.request_id.slice(-10)}
                </Link>
                {row.kind === 'correction' && <Badge tone="warn">correction</Badge>}
              </td>
              <td>
                {row.model ?? row.model_requested} <span className="muted">{row.provider ?? ''}</span>{' '}
                {row.fallback && <Badge tone="warn">failed over</Badge>}
              </td>
              <td>
                <OutcomeBadge outcome={row.outcome} />
              </td>
              <td className="num">{formatCount(row.tokens.input + row.tokens.output)}</td>
              <td className="num">{formatDuration(row.latency.total_ms)}</td>
              <td className="num">{formatCallUsd(row.billed_nanousd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollX>
  );
}
