import { useQuery } from '@tanstack/react-query';
import type { OperatorState } from '@sluice/contracts';
import { Badge, Meter, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { DocumentEditor } from '../edit/document-editor.tsx';
import { percent, queuedByTier } from '../overview/providers.tsx';
import { Link } from '../routing/location.tsx';

const STATE = { closed: { tone: 'good', word: 'closed' }, half_open: { tone: 'warn', word: 'half open' }, open: { tone: 'bad', word: 'open' } } as const;

/** One provider: breakers and accounts now, and its configuration. */
export function ProviderPage({ api, picture, id }: { api: OperatorApi; picture: OperatorState; id: string }) {
  const live = picture.providers.find(({ provider }) => provider === id);
  const rows = useQuery({ queryKey: ['providers'], queryFn: api.providers });
  const row = rows.data?.find((one) => one.id === id);
  if (live === undefined && rows.isSuccess && row === undefined) {
    return (
      <section className="panel">
        <h2>There is no provider {id}</h2>
        <Link to="/">Back to the overview</Link>
      </section>
    );
  }
  return (
    <>
      {live !== undefined && <Live provider={live} now={Date.parse(picture.at)} />}
      <section className="panel" aria-labelledby="configuration">
        <h2 id="configuration">Configuration of {id}</h2>
        {rows.isError && (
          <p className="notice bad" role="alert">
            {rows.error.message}
          </p>
        )}
        {row !== undefined && (
          <DocumentEditor
            label="Address, accounts with their slots, breaker; secrets are references and never shown"
            loaded={row}
            reload={async () => {
              const again = (await rows.refetch()).data?.find((one) => one.id === id);
              if (again === undefined) throw new Error('The provider could not be read again.');
              return again;
            }}
            save={(value, version) => api.saveProvider(id, value, version)}
            onSaved={() => undefined}
            needs="admin"
          />
        )}
      </section>
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
          {figures.attempts === 0 ? 'no calls in the last 10 s' : `last 10 s: ${figures.attempts} attempts, ${percent(figures.failed, figures.attempts)} failed, first byte after ${Math.round(figures.ttfb_ms_mean)} ms (longest ${Math.round(figures.ttfb_ms_max)} ms)`}
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
                    <Badge tone={STATE[breaker.state].tone}>{STATE[breaker.state].word}</Badge>{' '}
                    {breaker.retry_at_ms !== undefined && breaker.retry_at_ms > now && <span className="muted num">probe in {Math.ceil((breaker.retry_at_ms - now) / 1000)} s</span>}
                  </td>
                  <td className="num">
                    {breaker.calls === 0 ? <span className="muted">no calls lately</span> : `${breaker.failure_percent.toFixed(0)} % of ${breaker.calls}`}
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
                <th scope="col">slots</th>
                <th scope="col">waiting</th>
              </tr>
            </thead>
            <tbody>
              {provider.pools.map((pool) => (
                <tr key={`${pool.gateway_id} ${pool.credential}`}>
                  <th scope="row" className="row-name">
                    {pool.credential} {pool.state !== 'ok' && <Badge tone="bad">{pool.state.replace('_', ' ')}</Badge>}
                  </th>
                  <td className="slots">
                    <Meter label={`slots of ${pool.credential} in use`} value={pool.in_use} max={pool.slots} text={`${pool.in_use}/${pool.slots}`} />
                  </td>
                  <td className="num-left">
                    {queuedByTier({ pools: [pool] })}
                    {pool.oldest_wait_ms > 0 && <span className="muted"> · longest {Math.round(pool.oldest_wait_ms)} ms</span>}
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
