import type { OperatorState } from '@sluice/contracts';
import { Badge, formatBytes, formatDuration } from '@sluice/ui';

/** Gateways with the configuration they run and what waits on their disks. */
export function Gateways({ picture }: { picture: OperatorState }) {
  return (
    <section className="panel scroll-x" aria-labelledby="gateways">
      <h2 id="gateways">Gateways</h2>
      {picture.gateways.length === 0 ? (
        <p className="muted">No gateway has reported yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">gateway</th>
              <th scope="col" className="num">
                configuration
              </th>
              <th scope="col" className="num">
                in flight
              </th>
              <th scope="col" className="num">
                outbox
              </th>
              <th scope="col" className="num">
                memory
              </th>
            </tr>
          </thead>
          <tbody>
            {picture.gateways.map((gateway) => (
              <tr key={gateway.gateway_id}>
                <td>
                  {gateway.gateway_id} <Badge tone={gateway.live ? 'good' : 'bad'}>{gateway.live ? gateway.state : 'silent'}</Badge>
                </td>
                <td className="num">
                  {gateway.config_version} {gateway.config_version !== picture.config_version && <Badge tone="warn">behind</Badge>}
                  {!gateway.config_connected && <Badge tone="warn">not connected</Badge>}
                </td>
                <td className="num">{gateway.in_flight}</td>
                <td className="num">
                  {gateway.outbox.pending} not in the ledger
                  {gateway.outbox.oldest_age_ms > 5_000 && <span className="muted"> · oldest {formatDuration(gateway.outbox.oldest_age_ms)}</span>}
                </td>
                <td className="num">{formatBytes(gateway.rss_bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
