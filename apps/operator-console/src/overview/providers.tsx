import type { OperatorState } from '@sluice/contracts';
import { Badge } from '@sluice/ui';

const BREAKER_TONE = { closed: 'good', half_open: 'warn', open: 'bad' } as const;
const POOL_TONE = { ok: 'good', cooldown: 'warn', account_fault: 'bad' } as const;

/** Providers with their breakers and the use of their slots. */
export function Providers({ picture }: { picture: OperatorState }) {
  return (
    <section className="panel scroll-x" aria-labelledby="providers">
      <h2 id="providers">Providers</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">provider</th>
            <th scope="col">breakers</th>
            <th scope="col">slots in use</th>
            <th scope="col" className="num">
              waiting
            </th>
          </tr>
        </thead>
        <tbody>
          {picture.providers.map((provider) => (
            <tr key={provider.provider}>
              <td>
                {provider.display_name} <span className="muted">{provider.dialect}</span>
              </td>
              <td>
                {provider.breakers.length === 0 && <span className="muted">no calls yet</span>}
                {provider.breakers.map((breaker) => (
                  <div key={`${breaker.gateway_id} ${breaker.model}`}>
                    {breaker.model} <Badge tone={BREAKER_TONE[breaker.state]}>{breaker.state.replace('_', ' ')}</Badge>{' '}
                    {breaker.calls > 0 && <span className="muted num">{breaker.failure_percent.toFixed(0)} % of {breaker.calls} failed</span>}
                  </div>
                ))}
              </td>
              <td>
                {provider.pools.length === 0 && <span className="muted">–</span>}
                {provider.pools.map((pool) => (
                  <div key={`${pool.gateway_id} ${pool.credential}`} className="num">
                    {pool.in_use} of {pool.slots} {pool.state !== 'ok' && <Badge tone={POOL_TONE[pool.state]}>{pool.state.replace('_', ' ')}</Badge>}
                  </div>
                ))}
              </td>
              <td className="num">{provider.pools.reduce((sum, pool) => sum + Object.values(pool.queued).reduce((a, b) => a + b, 0), 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
