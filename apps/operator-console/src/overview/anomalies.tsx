import type { OperatorState } from '@sluice/contracts';

const SHOWN = 12;

/** What was out of the ordinary, newest first, in words. */
export function Anomalies({ picture }: { picture: OperatorState }) {
  return (
    <section className="panel" aria-labelledby="anomalies">
      <h2 id="anomalies">Anomalies</h2>
      {picture.anomalies.length === 0 ? (
        <p className="muted">Nothing out of the ordinary.</p>
      ) : (
        <ol className="anomalies">
          {picture.anomalies.slice(0, SHOWN).map((anomaly) => (
            <li key={anomaly.event_id}>
              <time className="muted num" dateTime={anomaly.occurred_at}>
                {new Date(anomaly.occurred_at).toLocaleTimeString('en-GB')}
              </time>{' '}
              {anomaly.message}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
