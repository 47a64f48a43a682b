import { useMutation } from '@tanstack/react-query';
import type { OperatorState } from '@sluice/contracts';
import { Badge, groupCounts } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';

const FLOOD = { tenant: 'initech', rps: 120, seconds: 20 } as const;

/** Breaks something on purpose: says what to expect before it is pressed, and then whether it happened. */
export function ChaosBar({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const flood = useMutation({ mutationFn: () => api.flood(FLOOD) });
  const stop = useMutation({ mutationFn: api.stopChaos });
  const running = picture.chaos.length > 0;
  const problem = flood.error ?? stop.error;
  return (
    <section className="panel chaos" aria-labelledby="chaos">
      <h2 id="chaos">Break something</h2>
      <div className="chaos-row">
        <button type="button" className="danger" disabled={running || flood.isPending} onClick={() => flood.mutate()}>
          initech · 120/s
        </button>
        <p className="muted">Expected for 20 s: initech is throttled and shed; every other tenant is neither, and waits no longer.</p>
        {running && (
          <button type="button" onClick={() => stop.mutate()}>
            Stop all
          </button>
        )}
      </div>
      {running && (
        <p role="status">
          <Badge tone="warn">running</Badge> {picture.chaos.map((action) => `${action.kind} ${action.target} until ${new Date(action.ends_at).toLocaleTimeString('en-GB')}`).join(', ')}.{' '}
          <Observed picture={picture} />
        </p>
      )}
      {problem !== null && (
        <p className="notice bad" role="alert">
          {problem.message}
        </p>
      )}
    </section>
  );
}

/** What the neighbours noticed in the last ten seconds. */
function Observed({ picture }: { picture: OperatorState }) {
  const neighbours = picture.tenants.filter(({ tenant }) => tenant !== FLOOD.tenant);
  const recent = neighbours.flatMap(({ seconds }) => seconds.slice(-10));
  const counts = recent.map(({ outcomes }) => groupCounts(outcomes));
  const shed = counts.reduce((sum, count) => sum + count.shed, 0);
  const throttled = counts.reduce((sum, count) => sum + count.throttled, 0);
  const wait = recent.reduce((longest, second) => Math.max(longest, second.queue_ms_max), 0);
  const untouched = shed === 0 && throttled === 0;
  return (
    <span className="num">
      Observed at the others in the last 10 s: {shed} shed, {throttled} throttled, longest wait {wait.toFixed(1)} ms{' '}
      <Badge tone={untouched ? 'good' : 'bad'}>{untouched ? 'as expected' : 'not as expected'}</Badge>
    </span>
  );
}
