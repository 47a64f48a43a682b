import { useMutation } from '@tanstack/react-query';
import type { ChaosCheck, ChaosReport } from '@sluice/contracts';
import { Badge, formatDuration } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { useRefusal } from '../session/role.tsx';

const VERDICT = {
  waiting: { tone: 'plain', word: 'not yet' },
  holds: { tone: 'good', word: 'as expected' },
  failed: { tone: 'bad', word: 'not as expected' },
  unproven: { tone: 'warn', word: 'unproven' },
} as const satisfies Record<ChaosCheck['verdict'], { tone: string; word: string }>;

/** Failures that were started on purpose: what was expected, what is seen, and the verdict on each. */
export function ChaosReports({
  api,
  reports,
  now,
  title,
}: {
  api: OperatorApi;
  reports: readonly ChaosReport[];
  now: number;
  title: string;
}) {
  const stop = useMutation({ mutationFn: api.stopChaos });
  const refusal = useRefusal('operator');
  const running = reports.some(({ phase }) => phase === 'running');
  return (
    <section className="panel reports" aria-label={title}>
      <div className="section-head">
        <h2>{title}</h2>
        <span className="grow" />
        {running && (
          <button
            type="button"
            className="danger"
            disabled={refusal !== undefined || stop.isPending}
            title={refusal}
            onClick={() => stop.mutate()}
          >
            Stop all
          </button>
        )}
      </div>
      {stop.isError && (
        <p className="notice bad" role="alert">
          {stop.error.message}
        </p>
      )}
      {reports.map((report) => (
        <article key={report.id} data-report={`${report.kind} ${report.target}`}>
          <h3>
            {report.kind} · {report.target} <span className="muted num">{timing(report, now)}</span>
          </h3>
          <ul className="checks">
            {report.checks.map((check) => (
              <li key={`${check.phase} ${check.expected}`}>
                <Badge tone={VERDICT[check.verdict].tone}>{VERDICT[check.verdict].word}</Badge>
                <span>
                  <span className="muted">expected{check.phase === 'after' ? ' afterwards' : ''}:</span>{' '}
                  {check.expected}
                  <br />
                  <span className="muted">observed:</span>{' '}
                  <span className="num">
                    {report.phase === 'running' && check.phase === 'after' ? 'when it is over' : check.observed}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </article>
      ))}
    </section>
  );
}

function timing({ phase, started_at, ends_at }: ChaosReport, now: number): string {
  if (phase === 'running') return `for ${formatDuration(Math.max(0, Date.parse(ends_at) - now))} more`;
  const ended = `ended ${formatDuration(Math.max(0, now - Date.parse(ends_at)))} ago`;
  return phase === 'recovering'
    ? `${ended}, recovering`
    : `${ended}, after ${formatDuration(Date.parse(ends_at) - Date.parse(started_at))}`;
}
