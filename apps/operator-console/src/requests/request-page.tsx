import { useQuery } from '@tanstack/react-query';
import type { LedgerRow } from '@sluice/contracts';
import { Badge, formatCallUsd, formatCount, formatNanoUsd, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { Link } from '../routing/location.tsx';
import { OutcomeBadge } from './request-table.tsx';
import { spansOf } from './stages.ts';

/** One request from the ledger: its way through the stages, its attempts, its price. */
export function RequestPage({ api, id }: { api: OperatorApi; id: string }) {
  const found = useQuery({
    queryKey: ['request', id],
    queryFn: () => api.ledger({ request_id: id, limit: 20 }),
    staleTime: 0,
    enabled: REQUEST_ID.test(id),
  });
  const call = found.data?.rows.find(({ kind }) => kind === 'call');
  const corrections = found.data?.rows.filter(({ kind }) => kind === 'correction') ?? [];
  if (!REQUEST_ID.test(id)) return <NotAnId id={id} />;
  if (found.isPending) return <p className="muted">One moment…</p>;
  if (found.isError) {
    return (
      <p className="notice bad" role="alert">
        {found.error.message}
      </p>
    );
  }
  if (call === undefined) return <NotFound id={id} onAgain={() => void found.refetch()} />;
  return (
    <>
      <Summary row={call} />
      <Way row={call} />
      <div className="columns">
        <Attempts row={call} />
        <Price row={call} corrections={corrections} />
      </div>
    </>
  );
}

/** As the gateway makes them. */
const REQUEST_ID = /^req_[0-9A-HJKMNP-TV-Z]{26}$/;

function NotAnId({ id }: { id: string }) {
  return (
    <section className="panel">
      <h2>This is not a request id</h2>
      <p>
        <code>{id}</code>
      </p>
      <p>
        One is <code>req_</code> and 26 capital letters and digits, as in the answer's header <code>x-request-id</code>.{' '}
        <Link to="/requests">All requests</Link>
      </p>
    </section>
  );
}

function NotFound({ id, onAgain }: { id: string; onAgain: () => void }) {
  return (
    <section className="panel">
      <h2>The ledger has no call of this id</h2>
      <p>
        <code>{id}</code>
      </p>
      <ul>
        <li>
          A request that was refused before a provider was asked has no row. The gateway's log has its line:{' '}
          <code>grep {id} .sluice/logs/gateway.log</code>
        </li>
        <li>
          A call that has just ended needs a second or two to arrive; while the spine or the database is down, longer.
        </li>
      </ul>
      <div className="inline">
        <button type="button" onClick={onAgain}>
          Look again
        </button>
        <Link to="/requests">All requests</Link>
      </div>
    </section>
  );
}

function Summary({ row }: { row: LedgerRow }) {
  const facts: [string, string | null][] = [
    ['when', new Date(row.occurred_at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })],
    ['workspace', row.workspace],
    ['key', row.key_id],
    ['asked for', `${row.operation}, ${row.model_requested}${row.stream ? ', stream' : ''}`],
    ['answered by', row.provider === null ? 'nobody' : `${row.model ?? ''} at ${row.provider}`],
    ['failed over', row.fallback ? (row.fallback_reason ?? 'yes').replaceAll('_', ' ') : null],
    ['error', row.error_code],
    ['ended', row.abort_case.replaceAll('_', ' ')],
    ['feature', row.feature],
    ['gateway', `${row.gateway_id}, record ${row.epoch}/${row.sequence}`],
  ];
  return (
    <section className="panel" aria-labelledby="request">
      <div className="section-head">
        <h2 id="request">
          Request <code>{row.request_id}</code>
        </h2>
        <OutcomeBadge outcome={row.outcome} />
        <span className="muted num">status {row.status}</span>
        <span className="grow" />
        <Link to={`/tenants/${encodeURIComponent(row.tenant)}`}>{row.tenant}</Link>
      </div>
      <dl className="facts wide num">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

function Way({ row }: { row: LedgerRow }) {
  const spans = spansOf(row);
  const total = Math.max(row.latency.total_ms, ...spans.map(({ startMs, durationMs }) => startMs + durationMs), 0.001);
  return (
    <section className="panel" aria-labelledby="way">
      <div className="section-head">
        <h2 id="way">Its way through the stages</h2>
        <span className="muted num">
          {ms(row.latency.total_ms)} in all, {row.latency.overhead_us.toLocaleString('en-US')} µs of it ours before the
          first byte
        </span>
      </div>
      <ScrollX label="Way through the stages">
        <table className="way num">
          <thead>
            <tr>
              <th scope="col">stage</th>
              <th scope="col">
                <span className="visually-hidden">when</span>
              </th>
              <th scope="col" className="num">
                took
              </th>
              <th scope="col">what it was</th>
            </tr>
          </thead>
          <tbody>
            {spans.map((span) => (
              <tr key={span.label}>
                <th scope="row" className="row-name">
                  {span.label}
                </th>
                <td className="way-lane">
                  <span
                    className={`way-bar ${span.kind}`}
                    style={{
                      marginLeft: `${(span.startMs / total) * 100}%`,
                      width: `max(3px, ${(span.durationMs / total) * 100}%)`,
                    }}
                  />
                </td>
                <td className="num">{ms(span.durationMs)}</td>
                <td className="muted">{span.note}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollX>
    </section>
  );
}

function Attempts({ row }: { row: LedgerRow }) {
  return (
    <section className="panel" aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      {row.attempts.length === 0 ? (
        <p className="empty">No provider was asked.</p>
      ) : (
        <ScrollX label="Attempts">
          <table>
            <thead>
              <tr>
                <th scope="col">provider</th>
                <th scope="col">model there</th>
                <th scope="col">outcome</th>
                <th scope="col" className="num">
                  tokens in / out
                </th>
                <th scope="col" className="num">
                  cost to us
                </th>
              </tr>
            </thead>
            <tbody>
              {row.attempts.map((attempt) => (
                <tr key={attempt.index}>
                  <th scope="row" className="row-name">
                    {attempt.provider} <span className="muted small block">{attempt.credential}</span>
                  </th>
                  <td>{attempt.provider_model}</td>
                  <td>
                    <Badge tone={attempt.outcome === 'ok' ? 'good' : 'bad'}>
                      {attempt.outcome.replaceAll('_', ' ')}
                    </Badge>{' '}
                    {attempt.status !== undefined && <span className="muted num">{attempt.status}</span>}
                  </td>
                  <td className="num">
                    {formatCount(attempt.usage.input)} / {formatCount(attempt.usage.output)}
                  </td>
                  <td className="num">{formatCallUsd(attempt.cost_nanousd)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
    </section>
  );
}

function Price({ row, corrections }: { row: LedgerRow; corrections: readonly LedgerRow[] }) {
  const tokens = Object.entries(row.tokens).filter(([, count]) => count > 0);
  const billed = corrections.reduce((sum, correction) => sum + correction.billed_nanousd, row.billed_nanousd);
  return (
    <section className="panel" aria-labelledby="price">
      <h2 id="price">Price</h2>
      <dl className="facts wide num">
        {tokens.map(([name, count]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')} tokens</dt>
            <dd>{formatCount(count)}</dd>
          </div>
        ))}
        <div>
          <dt>counted by</dt>
          <dd>{row.usage_source}</dd>
        </div>
        <div>
          <dt>costs us</dt>
          <dd>{formatNanoUsd(row.cost_nanousd)}</dd>
        </div>
        <div>
          <dt>billed</dt>
          <dd>
            {formatNanoUsd(row.billed_nanousd)} <span className="muted">by price book {row.price_version}</span>
          </dd>
        </div>
        {corrections.map((correction) => (
          <div key={correction.event_id}>
            <dt>correction</dt>
            <dd>
              {formatNanoUsd(correction.billed_nanousd)} <span className="muted">{correction.reason}</span>
            </dd>
          </div>
        ))}
        {corrections.length > 0 && (
          <div>
            <dt>in all</dt>
            <dd>{formatNanoUsd(billed)}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

const ms = (value: number): string =>
  value < 10 ? `${value.toFixed(1)} ms` : value < 2_000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
