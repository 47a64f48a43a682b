import { useInfiniteQuery } from '@tanstack/react-query';
import { Badge, formatCount, formatDuration } from '@sluice/ui';
import type { RequestRow } from '@sluice/contracts';
import { consoleApi, type RequestFilters } from '../api/console-api.ts';
import { Link } from '../routing/link.tsx';
import { urlOf, usePlace } from '../routing/location.ts';
import { Instant } from '../parts/instant.tsx';
import { Empty, Failure, Loading } from '../parts/load-state.tsx';
import { Money } from '../parts/money.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import { tokenSides } from '../parts/token-count.ts';
import type { PageProps } from '../shell/page-props.ts';
import { OUTCOME_WORDS } from './outcome-words.ts';
import { RequestDetail } from './request-detail.tsx';
import { filtersOf, RequestFilterBar } from './request-filters.tsx';

/** Single requests, newest first, each with why it ended as it did; or one of them. */
export function Requests({ slug, item }: PageProps) {
  const { search } = usePlace();
  if (item !== undefined) return <RequestDetail slug={slug} id={item} />;
  const filters = filtersOf(search);
  return (
    <>
      <PageHead title="Requests">
        Every call that reached a model, and what was refused. Refusals of the same kind in the same second are one row.
      </PageHead>
      <RequestFilterBar key={search.toString()} slug={slug} search={search} />
      <RequestList slug={slug} filters={filters} />
    </>
  );
}

function RequestList({ slug, filters }: { slug: string; filters: RequestFilters }) {
  const requests = useInfiniteQuery({
    queryKey: ['requests', slug, filters],
    queryFn: ({ pageParam }) => consoleApi.requests(slug, filters, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  const rows = requests.data?.pages.flatMap((page) => page.rows) ?? [];
  const filtered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Panel
      title={filtered ? 'Requests found' : 'All requests'}
      actions={
        <button type="button" onClick={() => void requests.refetch()} disabled={requests.isFetching}>
          Refresh
        </button>
      }
    >
      {requests.isPending && <Loading rows={8} />}
      {requests.isError && (
        <Failure
          error={requests.error}
          onRetry={() => void requests.refetch()}
          {...(rows.length > 0 ? { stale: requests.dataUpdatedAt } : {})}
        />
      )}
      {requests.isSuccess &&
        rows.length === 0 &&
        (filtered ? (
          <Empty title="Nothing matches">Take a filter away, or look at another time.</Empty>
        ) : (
          <Empty title="No requests yet">
            Make a key under API keys and send a first call; it appears here within seconds.
          </Empty>
        ))}
      {rows.length > 0 && <RequestTable slug={slug} rows={rows} />}
      {requests.hasNextPage && (
        <p className="more">
          <button type="button" onClick={() => void requests.fetchNextPage()} disabled={requests.isFetchingNextPage}>
            {requests.isFetchingNextPage ? 'Loading …' : 'Show older'}
          </button>
        </p>
      )}
    </Panel>
  );
}

function RequestTable({ slug, rows }: { slug: string; rows: readonly RequestRow[] }) {
  return (
    <div className="scroll-x">
      <table className="cards">
        <thead>
          <tr>
            <th>Time</th>
            <th>What became of it</th>
            <th>Model</th>
            <th>Key</th>
            <th className="num">Tokens in / out</th>
            <th className="num">Cost</th>
            <th className="num">Took</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} slug={slug} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ slug, row }: { slug: string; row: RequestRow }) {
  const tokens = tokenSides(row.tokens);
  const id = row.request_id ?? row.samples[0];
  const { word, tone } = OUTCOME_WORDS[row.outcome];
  const refused = row.kind === 'refusals';
  return (
    <tr>
      <td className="nowrap" data-label="Time">
        {id === undefined ? (
          <Instant at={row.occurred_at} seconds />
        ) : (
          <Link to={urlOf(slug, 'requests', id)}>
            <Instant at={row.occurred_at} seconds />
          </Link>
        )}
      </td>
      <td>
        <div className="row">
          <Badge tone={tone}>{word}</Badge>
          {row.count > 1 && <strong className="num">{formatCount(row.count)} calls</strong>}
          {row.fallback && <Badge tone="warn">fallback</Badge>}
          {row.outcome !== 'ok' && (
            <span className="muted num">
              {row.status}
              {row.error_code !== null && (
                <>
                  {' '}
                  <code>{row.error_code}</code>
                </>
              )}
            </span>
          )}
        </div>
        {row.explanation !== null && (
          <div className="why">
            <p>
              {row.explanation.why}
              {row.limit !== null && (
                <span className="muted">
                  {' '}
                  ({row.limit.name}
                  {row.limit.level !== null && `, ${levelInWords(row.limit.level)}`})
                </span>
              )}
            </p>
            <p className="muted">{row.explanation.what_to_do}</p>
          </div>
        )}
      </td>
      <td data-label="Model" className="model">
        <div>
          <span className="break">{row.model ?? row.model_requested ?? '–'}</span>
          {row.feature !== null && <div className="muted break">{row.feature}</div>}
        </div>
      </td>
      <td data-label="Key" className="break">
        {row.key_name ?? row.key_id ?? '–'}
      </td>
      <td className="num" data-label="Tokens in / out">
        {refused ? '–' : `${formatCount(tokens.input)} / ${formatCount(tokens.output)}`}
      </td>
      <td className="num" data-label="Cost">
        {refused ? '–' : <Money nano={row.billed_nanousd} />}
      </td>
      <td className="num" data-label="Took">
        {row.total_ms === null ? '–' : formatDuration(row.total_ms)}
      </td>
    </tr>
  );
}

/** Where a limit stands: `this key`, `this workspace`, `all workspaces together`. */
export function levelInWords(level: string): string {
  if (level === 'key') return 'limit of the key';
  if (level === 'workspace') return 'limit of this workspace';
  if (level === 'tenant') return 'limit of all workspaces together';
  return level;
}
