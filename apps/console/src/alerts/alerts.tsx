import { useInfiniteQuery } from '@tanstack/react-query';
import { Badge } from '@sluice/ui';
import type { AlertsView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Instant } from '../parts/instant.tsx';
import { Empty, Failure, Loading } from '../parts/load-state.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import { rolesWith } from '../shell/permission-words.ts';
import type { PageProps } from '../shell/page-props.ts';
import { ALERT_WORDS } from './alert-words.ts';
import { Webhooks } from './webhooks.tsx';

/** What the workspace was warned of, and where warnings are sent. */
export function Alerts({ slug, permissions }: PageProps) {
  return (
    <>
      <PageHead title="Alerts and webhooks">
        Warnings before limits are reached, here and at addresses of yours.
      </PageHead>
      <AlertList slug={slug} />
      {permissions.includes('policy:write') ? (
        <Webhooks slug={slug} />
      ) : (
        <Panel title="Webhooks">
          <p className="muted">
            To see and change where alerts are sent you need the permission <code>policy:write</code> (
            {rolesWith('policy:write')}).
          </p>
        </Panel>
      )}
    </>
  );
}

const TONES = { info: 'plain', warning: 'warn', critical: 'bad' } as const satisfies Record<
  AlertsView['rows'][number]['severity'],
  string
>;

function AlertList({ slug }: { slug: string }) {
  const alerts = useInfiniteQuery({
    queryKey: ['alerts', slug],
    queryFn: ({ pageParam }) => consoleApi.alerts(slug, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: 15_000,
  });
  const rows = alerts.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Panel title="Alerts" note="Newest first.">
      {alerts.isPending && <Loading rows={5} />}
      {alerts.isError && (
        <Failure
          error={alerts.error}
          onRetry={() => void alerts.refetch()}
          {...(rows.length > 0 ? { stale: alerts.dataUpdatedAt } : {})}
        />
      )}
      {alerts.isSuccess && rows.length === 0 && <Empty title="No alerts">Nothing has come near a limit.</Empty>}
      {rows.length > 0 && (
        <div className="scroll-x">
          <table className="cards">
            <thead>
              <tr>
                <th>Since</th>
                <th>Alert</th>
                <th>State</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.alert_id}>
                  <td className="nowrap" data-label="Since">
                    <Instant at={row.raised_at} />
                  </td>
                  <td>
                    <div className="row">
                      <Badge tone={TONES[row.severity]}>{row.severity}</Badge>
                      <strong>{ALERT_WORDS[row.kind]}</strong>
                      <code>{row.subject}</code>
                    </div>
                    <p className="muted">{row.message}</p>
                  </td>
                  <td className="nowrap" data-label="State">
                    {row.ended_at === null ? (
                      <Badge tone="warn">open</Badge>
                    ) : (
                      <span className="muted">
                        over since <Instant at={row.ended_at} />
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {alerts.hasNextPage && (
        <p className="more">
          <button type="button" disabled={alerts.isFetchingNextPage} onClick={() => void alerts.fetchNextPage()}>
            Show older
          </button>
        </p>
      )}
    </Panel>
  );
}
