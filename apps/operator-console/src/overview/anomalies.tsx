import type { OperatorState } from '@sluice/contracts';

const SHOWN = 8;

/** What was out of the ordinary, newest first, in words. */
export function Anomalies({ picture }: { picture: OperatorState }) {
  const shown = picture.anomalies.slice(0, SHOWN);
  return (
    <section className="panel" aria-labelledby="anomalies">
      <h2 id="anomalies">Anomalies</h2>
      {shown.length === 0 ? (
        <p className="empty">Nothing out of the ordinary.</p>
      ) : (
        <ol className="anomalies">
          {shown.map((anomaly) => (
            <li key={anomaly.event_id}>
              <time className="muted num" dateTime={anomaly.occurred_at}>
                {new Date(anomaly.occurred_at).toLocaleTimeString('en-GB')}
              </time>
              <span>{anomaly.message}</span>
            </li>
          ))}
        </ol>
      )}
      {picture.anomalies.length > SHOWN && (
        <p className="muted small">{picture.anomalies.length - SHOWN} older ones are not shown.</p>
      )}
    </section>
  );
}
