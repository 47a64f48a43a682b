import { useInfiniteQuery } from '@tanstack/react-query';
import { Badge, formatCount, formatDuration } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { formatMoney } from './money.ts';
import { tokenSides } from './token-count.ts';

/** Single requests, newest first, with why each ended as it did. */
export function Requests({ slug }: { slug: string }) {
  const requests = useInfiniteQuery({
    queryKey: ['requests', slug],
    queryFn: ({ pageParam }) => consoleApi.requests(slug, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  if (requests.isPending) return <p className="muted">Loading…</p>;
  if (requests.isError) return <p className="notice bad" role="alert">{requests.error.message}</p>;
  const rows = requests.data.pages.flatMap((page) => page.rows);
  return (
    <section className="panel scroll-x">
      <div className="title-row">
        <h2>Requests</h2>
        <button onClick={() => void requests.refetch()} disabled={requests.isFetching}>Refresh</button>
      </div>
      {rows.length === 0 && <p>No requests yet.</p>}
      {rows.length > 0 && (
        <table>
          <thead>
            <tr><th>Time (UTC)</th><th>Model</th><th>Outcome</th><th className="num">Status</th><th className="num">Tokens in / out</th><th className="num">Billed</th><th className="num">Took</th><th>Request id</th></tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const tokens = tokenSides(row.tokens);
              return (
                <tr key={row.id}>
                  <td>{row.occurred_at.slice(0, 19).replace('T', ' ')}</td>
                  <td>{row.model ?? '–'} {row.fallback && <Badge tone="warn">fallback</Badge>}</td>
                  <td><Badge tone={row.outcome === 'ok' ? 'good' : 'bad'}>{row.outcome}</Badge> {row.error_code}</td>
                  <td className="num">{row.status}</td>
                  <td className="num">{formatCount(tokens.input)} / {formatCount(tokens.output)}</td>
                  <td className="num">{formatMoney(row.billed_nanousd)}</td>
                  <td className="num">{row.total_ms === null ? '–' : formatDuration(row.total_ms)}</td>
                  <td><code>{row.request_id ?? '–'}</code></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {requests.hasNextPage && <button onClick={() => void requests.fetchNextPage()} disabled={requests.isFetchingNextPage}>Older</button>}
    </section>
  );
}
