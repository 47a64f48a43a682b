import { useQuery } from '@tanstack/react-query';
import { formatCount } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { formatMoney } from './money.ts';
import { tokenSides } from './token-count.ts';

/** Calls, tokens and cost by time and model. */
export function Usage({ slug }: { slug: string }) {
  const usage = useQuery({ queryKey: ['usage', slug], queryFn: () => consoleApi.usage(slug), refetchInterval: 10_000 });
  if (usage.isPending) return <p className="muted">Loading…</p>;
  if (usage.isError) return <p className="notice bad" role="alert">{usage.error.message}</p>;
  if (usage.data.buckets.length === 0) return <p className="panel">No calls in this time.</p>;
  return (
    <section className="panel scroll-x">
      <h2>Usage by time and model</h2>
      <table>
        <thead>
          <tr><th>Since (UTC)</th><th>Model</th><th className="num">Calls</th><th className="num">Input tokens</th><th className="num">Output tokens</th><th className="num">Billed</th></tr>
        </thead>
        <tbody>
          {usage.data.buckets.toReversed().map((bucket) => {
            const tokens = tokenSides(bucket.tokens);
            return (
              <tr key={`${bucket.bucket} ${bucket.model}`}>
                <td>{bucket.bucket.slice(0, 16).replace('T', ' ')}</td>
                <td>{bucket.model}</td>
                <td className="num">{formatCount(bucket.calls)}</td>
                <td className="num">{formatCount(tokens.input)}</td>
                <td className="num">{formatCount(tokens.output)}</td>
                <td className="num">{formatMoney(bucket.billed_nanousd)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
