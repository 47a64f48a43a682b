import { useQuery } from '@tanstack/react-query';
import { formatCount } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { formatMoney } from './money.ts';

/** Calls, tokens and cost by time, model and feature. */
export function Usage({ slug }: { slug: string }) {
  const usage = useQuery({ queryKey: ['usage', slug], queryFn: () => consoleApi.usage(slug), refetchInterval: 10_000 });
  if (usage.isPending) return <p className="muted">Loading…</p>;
  if (usage.isError) return <p className="notice bad" role="alert">{usage.error.message}</p>;
  if (usage.data.points.length === 0) return <p className="panel">No calls in this time.</p>;
  return (
    <section className="panel scroll-x">
      <h2>Usage by time, model and feature</h2>
      <table>
        <thead>
          <tr><th>Since (UTC)</th><th>Model</th><th>Feature</th><th className="num">Calls</th><th className="num">Input tokens</th><th className="num">Output tokens</th><th className="num">Billed</th></tr>
        </thead>
        <tbody>
          {usage.data.points.toReversed().map((point) => (
            <tr key={`${point.at} ${point.model} ${point.feature}`}>
              <td>{point.at.slice(0, 16).replace('T', ' ')}</td>
              <td>{point.model ?? '–'}</td>
              <td>{point.feature ?? '–'}</td>
              <td className="num">{formatCount(point.calls)}</td>
              <td className="num">{formatCount(point.input_tokens)}</td>
              <td className="num">{formatCount(point.output_tokens)}</td>
              <td className="num">{formatMoney(point.billed_nanousd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
