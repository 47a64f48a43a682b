import { useQuery } from '@tanstack/react-query';
import type { OverviewView } from '@sluice/contracts';
import { formatCount, groupCounts, OUTCOME_GROUPS, OutcomeBars, OutcomeLegend } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { formatMoney } from './money.ts';
import { tokenSides } from './token-count.ts';

/** The last two minutes as they move, this month, and the limits. */
export function Overview({ slug }: { slug: string }) {
  const overview = useQuery({ queryKey: ['overview', slug], queryFn: () => consoleApi.overview(slug), refetchInterval: 1000 });
  const { data } = overview;
  return (
    <>
      {overview.isError && <p className="notice bad" role="alert">{overview.error.message}{data !== undefined && ' Shown is the last known state.'}</p>}
      {data === undefined ? overview.isPending && <p className="muted">Loading…</p> : <OverviewPanels slug={slug} data={data} />}
    </>
  );
}

function OverviewPanels({ slug, data }: { slug: string; data: OverviewView }) {
  const totals = groupCounts(data.totals.outcomes);
  const month = tokenSides(data.month.tokens);
  const perSecond = data.seconds.map(({ outcomes }) => Object.values(outcomes).reduce((sum, n) => sum + n, 0));
  const limit = data.limits.requests?.per_second ?? undefined;
  return (
    <>
      <section className="panel" aria-labelledby="live">
        <h2 id="live">Calls per second, last two minutes</h2>
        <OutcomeBars label={slug} seconds={data.seconds} max={Math.max(limit === undefined ? 1 : limit * 1.1, ...perSecond)} limit={limit} />
        <OutcomeLegend />
        <dl className="figures">
          {OUTCOME_GROUPS.map(({ id, word }) => (
            <div key={id}>
              <dt>{word}</dt>
              <dd className="num">{formatCount(totals[id])}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section className="panel" aria-labelledby="month">
        <h2 id="month">This month (UTC)</h2>
        <dl className="figures">
          <div><dt>calls</dt><dd className="num">{formatCount(data.month.calls)}</dd></div>
          <div><dt>input tokens</dt><dd className="num">{formatCount(month.input)}</dd></div>
          <div><dt>output tokens</dt><dd className="num">{formatCount(month.output)}</dd></div>
          <div><dt>billed</dt><dd className="num">{formatMoney(data.month.billed_nanousd)}</dd></div>
        </dl>
      </section>
      <section className="panel" aria-labelledby="limits">
        <h2 id="limits">Limits of {data.tenant.name}, across its workspaces ({data.plan} plan)</h2>
        <ul className="limits">{limitsInWords(data.limits).map((line) => <li key={line}>{line}</li>)}</ul>
      </section>
    </>
  );
}

function limitsInWords({ requests, tokens, concurrency, quotas }: OverviewView['limits']): string[] {
  const lines: string[] = [];
  if (requests !== null) {
    const rate = requests.per_second !== null ? `${formatCount(requests.per_second)} requests/s` : `${formatCount(requests.per_minute ?? 0)} requests/min`;
    lines.push(`${rate}, burst ${formatCount(requests.burst)}`);
  }
  if (tokens !== null) lines.push(`${formatCount(tokens.per_minute)} tokens/min`);
  if (concurrency !== null) lines.push(`${formatCount(concurrency.in_flight)} requests in flight, of which ${formatCount(concurrency.queued)} may wait`);
  for (const quota of quotas) lines.push(`${quota.id}: ${formatCount(quota.limit)} ${quota.meter.replaceAll('_', ' ')} per ${quota.span} (${quota.mode})`);
  return lines.length === 0 ? ['None.'] : lines;
}
