import { useQuery } from '@tanstack/react-query';
import { Badge } from '@sluice/ui';
import type { DeliveriesView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Instant } from '../parts/instant.tsx';
import { Empty, Loaded } from '../parts/load-state.tsx';
import { ALERT_WORDS } from './alert-words.ts';

export const DELIVERY_TONES = { waiting: 'warn', delivered: 'good', failed: 'bad' } as const satisfies Record<
  DeliveriesView['rows'][number]['state'],
  string
>;

/** What was sent to a webhook, newest first, and how the receiver took it. */
export function Deliveries({ slug, id }: { slug: string; id: string }) {
  const deliveries = useQuery({
    queryKey: ['deliveries', slug, id],
    queryFn: () => consoleApi.deliveries(slug, id),
    refetchInterval: 5_000,
  });
  return (
    <Loaded query={deliveries}>
      {(data) =>
        data.rows.length === 0 ? (
          <Empty title="Nothing was sent yet" />
        ) : (
          <div className="scroll-x">
            <table className="cards">
              <thead>
                <tr>
                  <th>When</th>
                  <th>Alert</th>
                  <th>State</th>
                  <th className="num">Tries</th>
                  <th className="num">Status</th>
                  <th>What went wrong</th>
                </tr>
              </thead>
              <tbody>
                {data.rows.map((row) => (
                  <tr key={row.delivery_id}>
                    <td className="nowrap" data-label="When">
                      <Instant at={row.created_at} seconds />
                    </td>
                    <td data-label="Alert">{ALERT_WORDS[row.kind]}</td>
                    <td data-label="State">
                      <Badge tone={DELIVERY_TONES[row.state]}>{row.state}</Badge>
                    </td>
                    <td className="num" data-label="Tries">
                      {row.attempts}
                    </td>
                    <td className="num" data-label="Status">
                      {row.status ?? '–'}
                    </td>
                    <td data-label="What went wrong" className="break">
                      {row.error ?? '–'}
                      {row.next_attempt_at !== null && (
                        <div className="muted">
                          again <Instant at={row.next_attempt_at} seconds />
                        </div>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Loaded>
  );
}
