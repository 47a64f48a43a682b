import type { OperatorState } from '@sluice/contracts';
import { Badge, Meter, ScrollX } from '@sluice/ui';
import { BREAKER_STATE, reachOf } from '../providers/breaker-words.ts';
import { Link } from '../routing/location.tsx';

type Provider = OperatorState['providers'][number];

const TIERS = ['critical', 'high', 'standard', 'low'] as const;

/** Providers with their breakers, how they answered lately, and the use of their slots. */
export function Providers({ picture }: { picture: OperatorState }) {
  return (
    <section className="panel" aria-labelledby="providers">
      <h2 id="providers">Providers</h2>
      {picture.providers.length === 0 ? (
        <p className="empty">No provider is configured yet.</p>
      ) : (
        <ScrollX label="Providers">
          <table>
            <thead>
              <tr>
                <th scope="col">provider</th>
                <th scope="col">breakers</th>
                <th scope="col" className="num">
                  failed, 10 s
                </th>
                <th scope="col" className="num">
                  first byte
                </th>
                <th scope="col">slots</th>
                <th scope="col">waiting</th>
              </tr>
            </thead>
            <tbody>
              {picture.providers.map((provider) => (
                <ProviderRow key={provider.provider} provider={provider} />
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
    </section>
  );
}

function ProviderRow({ provider }: { provider: Provider }) {
  const { figures } = provider;
  return (
    <tr data-provider={provider.provider}>
      <th scope="row" className="row-name">
        <Link to={`/providers/${encodeURIComponent(provider.provider)}`}>{provider.provider}</Link>
        <span className="muted small block">{provider.dialect}</span>
      </th>
      <td>
        <BreakerSummary provider={provider} />
      </td>
      <td className="num">
        {figures.attempts === 0 ? (
          <span className="muted">no calls</span>
        ) : (
          <>
            {figures.failed > 0 && <Badge tone="bad">{percent(figures.failed, figures.attempts)}</Badge>}{' '}
            <span className={figures.failed > 0 ? 'muted' : ''}>
              {figures.failed > 0 ? `of ${figures.attempts}` : `0 of ${figures.attempts}`}
            </span>
          </>
        )}
      </td>
      <td className="num">
        {figures.answered === 0 ? <span className="muted">–</span> : `${Math.round(figures.ttfb_ms_mean)} ms`}
      </td>
      <td className="slots">
        {provider.pools.length === 0 && <span className="muted">–</span>}
        {provider.pools.map((pool) => (
          <div key={`${pool.gateway_id} ${pool.credential}`}>
            <Meter
              label={`slots of ${pool.credential} in use`}
              value={pool.in_use}
              max={pool.slots}
              text={`${pool.in_use}/${pool.slots}`}
            />
            {pool.state !== 'ok' && (
              <Badge tone={pool.state === 'cooldown' ? 'warn' : 'bad'}>
                {pool.state === 'cooldown' ? 'rests' : 'account refused'}
              </Badge>
            )}
          </div>
        ))}
      </td>
      <td className="num-left">{queuedByTier(provider)}</td>
    </tr>
  );
}

/** Breakers that are not closed by name, the others as a count. */
export function BreakerSummary({ provider }: { provider: Pick<Provider, 'breakers'> }) {
  const { breakers } = provider;
  if (breakers.length === 0) return <span className="muted">no calls yet</span>;
  const notClosed = breakers.filter(({ state }) => state !== 'closed');
  const closed = breakers.length - notClosed.length;
  return (
    <span className="stack">
      {notClosed.map((breaker) => (
        <span key={`${breaker.gateway_id} ${breaker.model}`}>
          <Badge tone={BREAKER_STATE[breaker.state].tone}>{BREAKER_STATE[breaker.state].word}</Badge>{' '}
          <span className="small">
            {breaker.model} {reachOf(breaker)}
          </span>
        </span>
      ))}
      {closed > 0 && (
        <span>
          <Badge tone="good">{closed} closed</Badge>
        </span>
      )}
    </span>
  );
}

/** Who waits for a slot, by tier: `2 high, 5 low`. */
export function queuedByTier({ pools }: Pick<Provider, 'pools'>): string {
  const words = TIERS.map((tier) => [tier, pools.reduce((sum, { queued }) => sum + (queued[tier] ?? 0), 0)] as const)
    .filter(([, count]) => count > 0)
    .map(([tier, count]) => `${count} ${tier}`);
  return words.length === 0 ? 'none' : words.join(', ');
}

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '0 %' : `${Math.round((part / whole) * 100)} %`;
