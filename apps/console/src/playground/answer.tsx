import { formatCount, formatDuration, Badge } from '@sluice/ui';
import type { PlaygroundUsage } from '@sluice/contracts';
import { Link } from '../routing/link.tsx';
import { urlOf } from '../routing/location.ts';
import { useCountdown, waitInWords } from '../parts/countdown.ts';
import { Money } from '../parts/money.tsx';
import { Figure } from '../parts/page.tsx';
import type { CallReport, RefusalReport } from './call-report.ts';
import type { CallState } from './use-call.ts';

/** What came back: the text as it comes, what it used and cost, who answered, or why it was refused. */
export function Answer({ slug, state, onAgain }: { slug: string; state: CallState; onAgain: () => void }) {
  switch (state.phase) {
    case 'idle':
      return null;
    case 'waiting':
      return (
        <div className="turn assistant">
          <p className="turn-who muted">Model</p>
          <p className="muted" role="status">
            Waiting for the first words …
          </p>
        </div>
      );
    case 'refused':
      return <Refusal refusal={state.refusal} atMs={state.atMs} onAgain={onAgain} />;
    case 'streaming':
      return (
        <div className="turn assistant">
          <p className="turn-who muted">
            Model <span role="status">is answering …</span>
          </p>
          <p className="turn-text" data-testid="answer">
            {state.text}
            <span className="caret" aria-hidden="true" />
          </p>
        </div>
      );
    default:
      return (
        <div className="turn assistant">
          <p className="turn-who muted">Model</p>
          <p className="turn-text" data-testid="answer">
            {state.text === '' ? <span className="muted">(nothing)</span> : state.text}
          </p>
          <p className="visually-hidden" role="status">
            {state.phase === 'done' ? 'The answer is complete.' : 'The answer is not complete.'}
          </p>
          {state.phase === 'stopped' && (
            <p className="notice">
              Stopped by you. What was produced up to then is billed; the exact cost stands under Requests.
            </p>
          )}
          {state.phase === 'broken' && (
            <p className="notice bad" role="alert">
              {state.fault} What was produced up to then may be billed.{' '}
              <button type="button" onClick={onAgain}>
                Send again
              </button>
            </p>
          )}
          {state.phase === 'done' && state.finish === 'length' && (
            <p className="notice warn">The answer was cut at the longest length that the call allows.</p>
          )}
          <Figures slug={slug} report={state.report} usage={state.usage} firstMs={state.firstMs} />
        </div>
      );
  }
}

function Figures({
  slug,
  report,
  usage,
  firstMs,
}: {
  slug: string;
  report: CallReport | undefined;
  usage: PlaygroundUsage | undefined;
  firstMs: number | undefined;
}) {
  const sum = (...names: string[]): number => names.reduce((total, name) => total + (usage?.tokens?.[name] ?? 0), 0);
  const model = usage?.model ?? report?.model;
  const provider = usage?.provider ?? report?.provider;
  return (
    <div className="call-figures">
      <dl className="figures small">
        {usage?.tokens !== undefined && (
          <>
            <Figure name="input tokens">{formatCount(sum('input', 'cache_read', 'cache_write'))}</Figure>
            <Figure name="output tokens">{formatCount(sum('output', 'reasoning', 'audio'))}</Figure>
          </>
        )}
        {usage?.cost_nanousd !== undefined && (
          <Figure name="cost">
            <Money nano={usage.cost_nanousd} />
          </Figure>
        )}
        {firstMs !== undefined && <Figure name="first words after">{formatDuration(firstMs)}</Figure>}
        {usage?.latency_ms !== undefined && <Figure name="took">{formatDuration(usage.latency_ms)}</Figure>}
      </dl>
      <p className="row">
        {model !== undefined && (
          <span>
            answered by <strong>{model}</strong>
            {provider !== undefined && ` at ${provider}`}
          </span>
        )}
        {report?.fallback !== undefined && (
          <Badge tone="warn">{`fallback: ${report.fallback.replaceAll('_', ' ')}`}</Badge>
        )}
        {report?.attempts !== undefined && report.attempts > 1 && (
          <span className="muted">after {report.attempts} tries</span>
        )}
      </p>
      {report !== undefined && <LimitsLeft report={report} />}
      {report?.requestId !== undefined && (
        <p>
          <Link to={urlOf(slug, 'requests', report.requestId)}>See this request</Link>
        </p>
      )}
    </div>
  );
}

function LimitsLeft({ report }: { report: CallReport }) {
  const { limits, quotaRemainingTokens, quotaWarning, queueMs } = report;
  return (
    <ul className="plain muted num">
      {limits.map(({ name, remaining, limit, reset }) => (
        <li key={name}>
          {formatCount(remaining)} of {formatCount(limit)} {name} left
          {reset !== undefined && `, full again in ${reset}`}
        </li>
      ))}
      {quotaRemainingTokens !== undefined && (
        <li>{formatCount(quotaRemainingTokens)} tokens left of the tightest quota</li>
      )}
      {quotaWarning !== undefined && <li className="warn-text">quota warning: {quotaWarning}</li>}
      {queueMs !== undefined && queueMs >= 1 && <li>waited {formatDuration(queueMs)} for the model to become free</li>}
    </ul>
  );
}

function Refusal({ refusal, atMs, onAgain }: { refusal: RefusalReport; atMs: number; onAgain: () => void }) {
  const leftS = useCountdown(refusal.waitS, atMs);
  return (
    <div className="notice bad refusal" role="alert">
      <p>
        <strong>{refusal.title}</strong>{' '}
        <span className="muted num">
          {refusal.status}
          {refusal.code !== undefined && (
            <>
              {' '}
              <code>{refusal.code}</code>
            </>
          )}
        </span>
      </p>
      <p>{refusal.message}</p>
      <p>{refusal.todo}</p>
      {refusal.waitS !== undefined && (
        <p className="row">
          <strong className="num countdown" role="timer">
            {leftS > 0 ? `Try again in ${waitInWords(leftS)}` : 'You can try again now'}
          </strong>
        </p>
      )}
      <p className="row">
        <button type="button" disabled={leftS > 0} onClick={onAgain}>
          Send again
        </button>
        {refusal.requestId !== undefined && (
          <span className="muted">
            Request id <code>{refusal.requestId}</code>
          </span>
        )}
      </p>
    </div>
  );
}
