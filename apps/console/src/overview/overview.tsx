import { lazy, Suspense } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { OverviewView } from '@sluice/contracts';
import { formatCount, formatDuration, groupCounts, OUTCOME_GROUPS, OutcomeBars, OutcomeLegend } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { Link } from '../routing/link.tsx';
import { urlOf } from '../routing/location.ts';
import { Loaded, Loading } from '../parts/load-state.tsx';
import { Money } from '../parts/money.tsx';
import { Figure, PageHead, Panel } from '../parts/page.tsx';
import { tokenSides } from '../parts/token-count.ts';
import type { PageProps } from '../shell/page-props.ts';
import { limitsInWords } from './limits-in-words.ts';
import { QuotaMeters } from './quota-meters.tsx';

const LastDay = lazy(async () => ({ default: (await import('./last-day.tsx')).LastDay }));

/** The last two minutes as they move, the last day, this month, quotas and limits. */
export function Overview({ slug }: PageProps) {
  const overview = useQuery({
    queryKey: ['overview', slug],
    queryFn: () => consoleApi.overview(slug),
    refetchInterval: 1000,
  });
  return (
    <>
      <PageHead title="Overview">What calls of this workspace become, and how much room there is.</PageHead>
      <Loaded query={overview} rows={8}>
        {(data) => <OverviewPanels slug={slug} data={data} />}
      </Loaded>
    </>
  );
}

function OverviewPanels({ slug, data }: { slug: string; data: OverviewView }) {
  const totals = groupCounts(data.totals.outcomes);
  const perSecond = data.seconds.map(({ outcomes }) => Object.values(outcomes).reduce((sum, n) => sum + n, 0));
  const limit = data.limits.requests?.per_second ?? undefined;
  const quiet = Object.values(totals).every((count) => count === 0);
  return (
    <>
      {data.kill_switches.map((kill) => (
        <KillSwitchBanner key={`${kill.scope} ${kill.target}`} {...kill} />
      ))}
      {data.open_alerts > 0 && (
        <p className="notice warn">
          {data.open_alerts === 1 ? 'One alert is open. ' : `${formatCount(data.open_alerts)} alerts are open. `}
          <Link to={urlOf(slug, 'alerts')}>See alerts</Link>
        </p>
      )}
      <Panel
        title="Traffic now"
        note={
          quiet
            ? 'Calls per second in the last two minutes. There were none.'
            : 'Calls per second in the last two minutes, by what became of them.'
        }
      >
        <OutcomeBars label={slug} seconds={data.seconds} max={Math.max(1, ...perSecond)} limit={limit} />
        <div className="legend-row">
          <OutcomeLegend />
        </div>
        <dl className="figures">
          {OUTCOME_GROUPS.map(({ id, word, means }) => (
            <Figure key={id} name={word} note={means}>
              {formatCount(totals[id])}
            </Figure>
          ))}
        </dl>
      </Panel>
      <div className="columns">
        <Panel title="Quotas" note="How much of each is used. The fullest refuses first.">
          <QuotaMeters quotas={data.quotas} />
        </Panel>
        <Panel title="This month" note="Since its first day in UTC. Refused calls are not counted and not billed.">
          <Month month={data.month} />
        </Panel>
        <Panel title="Time to answer" note="Of the calls in the last hour that reached a model.">
          <Latency latency={data.latency} />
        </Panel>
        <Panel title="Limits" note={`Of ${data.tenant.name} across its workspaces, on the ${data.plan} plan.`}>
          <ul className="plain">
            {limitsInWords(data.limits).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Panel>
      </div>
      <Suspense fallback={<Loading rows={6} />}>
        <LastDay slug={slug} />
      </Suspense>
    </>
  );
}

function Month({ month }: { month: OverviewView['month'] }) {
  const tokens = tokenSides(month.tokens);
  return (
    <dl className="figures">
      <Figure name="calls">{formatCount(month.calls)}</Figure>
      <Figure name="input tokens">{formatCount(tokens.input)}</Figure>
      <Figure name="output tokens">{formatCount(tokens.output)}</Figure>
      <Figure name="cost">
        <Money nano={month.billed_nanousd} />
      </Figure>
    </dl>
  );
}

function Latency({ latency }: { latency: OverviewView['latency'] }) {
  if (latency === null) return <p className="muted">There were no such calls.</p>;
  return (
    <dl className="figures">
      <Figure name="half within">{formatDuration(latency.p50_ms)}</Figure>
      <Figure name="95 % within">{formatDuration(latency.p95_ms)}</Figure>
      <Figure name="99 % within">{formatDuration(latency.p99_ms)}</Figure>
      <Figure name="calls">{formatCount(latency.calls)}</Figure>
    </dl>
  );
}

const SCOPES: Readonly<Record<OverviewView['kill_switches'][number]['scope'], string>> = {
  all: 'All calls are switched off by the operator.',
  workspace: 'Calls of this workspace are switched off by the operator.',
  provider: 'A provider is switched off by the operator; calls go to the next one that your policy names:',
  model: 'A model is switched off by the operator:',
  feature: 'A feature is switched off by the operator:',
};

function KillSwitchBanner({ scope, target, message }: OverviewView['kill_switches'][number]) {
  const named = scope !== 'all' && scope !== 'workspace' && target !== null;
  return (
    <div className="notice bad" role="alert">
      <strong>{SCOPES[scope]}</strong>
      {named && (
        <>
          {' '}
          <code>{target}</code>
        </>
      )}{' '}
      {message}
    </div>
  );
}
