import { useQuery } from '@tanstack/react-query';
import type { OperatorState } from '@sluice/contracts';
import { Badge, Meter, ScrollX } from '@sluice/ui';
import { ApiError } from '../api/call.ts';
import { type OperatorApi } from '../api/operator-api.ts';
import { Problem } from '../edit/problem.tsx';
import { percent, queuedByTier } from '../overview/providers.tsx';
import { Link } from '../routing/location.tsx';
import { Accounts } from './accounts.tsx';
import { accountUse, rateInWords, reservedInWords, restInWords } from './account-words.ts';
import { BREAKER_STATE, reachOf } from './breaker-words.ts';
import { Offers } from './offers.tsx';

/** One provider: breakers and accounts now, its configuration, and the models it has. */
export function ProviderPage({ api, picture, id }: { api: OperatorApi; picture: OperatorState; id: string }) {
  const live = picture.providers.find(({ provider }) => provider === id);
  const row = useQuery({
    queryKey: ['provider', id],
    queryFn: () => api.tables.get('providers', id),
    staleTime: 0,
    refetchInterval: 5_000,
  });
  if (live === undefined && row.isPending) return <p className="muted">One moment…</p>;
  if (live === undefined && row.data === undefined) {
    const gone = row.error instanceof ApiError && row.error.status === 404;
    return (
      <section className="panel">
        <h2>{gone ? `There is no provider ${id}` : `The provider ${id} could not be read`}</h2>
        {!gone && <Problem error={row.error} />}
        <Link to="/providers">All providers</Link>
      </section>
    );
  }
  return (
    <>
      {live !== undefined && <Live provider={live} now={Date.parse(picture.at)} />}
      {row.data === undefined ? (
        <Problem error={row.error} />
      ) : (
        <Accounts api={api} row={row.data} onChanged={() => void row.refetch()} />
      )}
      <Offers api={api} provider={id} />
    </>
  );
}

function Live({ provider, now }: { provider: OperatorState['providers'][number]; now: number }) {
  const { figures } = provider;
  return (
    <section className="panel" aria-labelledby="live">
      <div className="section-head">
        <h2 id="live">{provider.display_name}</h2>
        <span className="muted num">
          {figures.attempts === 0
            ? 'no calls in the last 10 s'
            : `last 10 s: ${figures.attempts} attempts, ${percent(figures.failed, figures.attempts)} failed, first byte after ${Math.round(figures.ttfb_ms_mean)} ms (longest ${Math.round(figures.ttfb_ms_max)} ms)`}
        </span>
      </div>
      <div className="columns">
        <ScrollX label="Breakers by model">
          <table>
            <thead>
              <tr>
                <th scope="col">model</th>
                <th scope="col">breaker</th>
                <th scope="col" className="num">
                  failed
                </th>
              </tr>
            </thead>
            <tbody>
              {provider.breakers.length === 0 && (
                <tr>
                  <td colSpan={3} className="muted">
                    No model of it was called yet.
                  </td>
                </tr>
              )}
              {provider.breakers.map((breaker) => (
                <tr key={`${breaker.gateway_id} ${breaker.model}`}>
                  <th scope="row" className="row-name">
                    {breaker.model} <span className="muted small">{breaker.gateway_id}</span>
                  </th>
                  <td>
                    <Badge tone={BREAKER_STATE[breaker.state].tone}>{BREAKER_STATE[breaker.state].word}</Badge>{' '}
                    <span>{reachOf(breaker)}</span>{' '}
                    {breaker.retry_at_ms !== undefined && breaker.retry_at_ms > now && (
                      <span className="muted num">probe in {Math.ceil((breaker.retry_at_ms - now) / 1000)} s</span>
                    )}
                  </td>
                  <td className="num">
                    {breaker.calls === 0 ? (
                      <span className="muted">no calls lately</span>
                    ) : (
                      `${breaker.failure_percent.toFixed(0)} % of ${breaker.calls}`
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
        <ScrollX label="Accounts">
          <table>
            <thead>
              <tr>
                <th scope="col">account</th>
                <th scope="col">status</th>
                <th scope="col">slots</th>
                <th scope="col">waiting</th>
              </tr>
            </thead>
            <tbody>
              {provider.pools.map((pool) => (
                <tr key={`${pool.gateway_id} ${pool.credential}`}>
                  <th scope="row" className="row-name">
                    {pool.credential} <span className="muted small">{accountUse(pool)}</span>
                  </th>
                  <td>
                    {pool.rests.length === 0 && <Badge tone="good">ok</Badge>}
                    {pool.rests.map((rest) => (
                      <span key={`${rest.kind} ${rest.tenant} ${rest.model}`} className="block">
                        <Badge tone={rest.kind === 'limited' ? 'warn' : 'bad'}>
                          {rest.kind === 'limited' ? 'resting' : 'refused'}
                        </Badge>{' '}
                        <span className="small">{restInWords(rest, now)}</span>
                      </span>
                    ))}
                    {pool.rates.map((rate) => (
                      <span key={`${rate.from} ${rate.model}`} className="muted small block">
                        {rateInWords(rate)}
                      </span>
                    ))}
                  </td>
                  <td className="slots">
                    <Meter
                      label={`slots of ${pool.credential} in use`}
                      value={pool.in_use}
                      max={pool.slots}
                      text={`${pool.in_use}/${pool.slots}`}
                    />
                    {pool.reserved !== undefined && (
                      <span className="muted small block">{reservedInWords(pool.reserved)}</span>
                    )}
                  </td>
                  <td className="num-left">
                    {queuedByTier({ pools: [pool] })}
                    {pool.oldest_wait_ms > 0 && (
                      <span className="muted"> · longest {Math.round(pool.oldest_wait_ms)} ms</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      </div>
    </section>
  );
}
