import type { OperatorState } from '@sluice/contracts';
import { Badge, formatBytes, formatDuration, ScrollX } from '@sluice/ui';

type Gateway = OperatorState['gateways'][number];

const STORE = { memory: 'own memory', valkey: 'Valkey', valkey_local_share: 'local share' } as const;
/** Records reach the ledger within two or three seconds. */
const LATE_RECORDS_MS = 10_000;
const OLD_RECORDS_MS = 60_000;

/** Gateways with the configuration they run and what waits on their disks. */
export function Gateways({ picture }: { picture: OperatorState }) {
  return (
    <section className="panel" aria-labelledby="gateways">
      <h2 id="gateways">Gateways</h2>
      {picture.gateways.length === 0 ? (
        <p className="empty">No gateway has reported yet.</p>
      ) : (
        <ScrollX label="Gateways">
          <table>
            <thead>
              <tr>
                <th scope="col">gateway</th>
                <th scope="col">configuration</th>
                <th scope="col" className="num">
                  in flight
                </th>
                <th scope="col">outbox</th>
                <th scope="col">limits in</th>
                <th scope="col" className="num">
                  memory
                </th>
              </tr>
            </thead>
            <tbody>
              {picture.gateways.map((gateway) => (
                <tr key={gateway.gateway_id}>
                  <th scope="row" className="row-name">
                    {gateway.gateway_id}{' '}
                    <Badge tone={gateway.live ? (gateway.state === 'serving' ? 'good' : 'warn') : 'bad'}>
                      {gateway.live ? gateway.state : 'silent'}
                    </Badge>
                    <span className="muted small block num">
                      process {gateway.pid},{' '}
                      {formatDuration(Math.max(0, Date.parse(picture.at) - gateway.started_at_ms))} old
                    </span>
                  </th>
                  <td className="num-left">{configuration(gateway, picture.config_version)}</td>
                  <td className="num">{gateway.in_flight}</td>
                  <td className="num-left">
                    {gateway.outbox.pending === 0
                      ? 'empty'
                      : `${gateway.outbox.pending.toLocaleString('en-US')} waiting`}{' '}
                    {gateway.outbox.pending > 0 && gateway.outbox.oldest_age_ms >= LATE_RECORDS_MS && (
                      <Badge tone={gateway.outbox.oldest_age_ms > OLD_RECORDS_MS ? 'bad' : 'warn'}>
                        oldest {formatDuration(gateway.outbox.oldest_age_ms)}
                      </Badge>
                    )}
                  </td>
                  <td>
                    {gateway.store === 'valkey_local_share' ? (
                      <Badge tone="warn">{STORE[gateway.store]}</Badge>
                    ) : (
                      STORE[gateway.store]
                    )}
                  </td>
                  <td className="num">{formatBytes(gateway.rss_bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
    </section>
  );
}

function configuration(gateway: Gateway, newest: number) {
  if (!gateway.config_connected)
    return (
      <>
        {gateway.config_version} <Badge tone="warn">cut off</Badge>
      </>
    );
  if (gateway.config_version !== newest)
    return (
      <>
        {gateway.config_version} <Badge tone="warn">behind {newest}</Badge>
      </>
    );
  return `${gateway.config_version}, newest`;
}
