import type { OperatorState } from '@sluice/contracts';
import { Badge, groupCounts, OutcomeBars, OUTCOME_GROUPS } from '@sluice/ui';

type Tenant = OperatorState['tenants'][number];

/** One tenant's bars with its limit, and in words what its calls became. */
export function TenantPanel({ tenant, max }: { tenant: Tenant; max: number }) {
  const totals = groupCounts(tenant.totals);
  const recent = tenant.seconds.slice(-10);
  const perSecond = recent.reduce((sum, second) => sum + Object.values(groupCounts(second.outcomes)).reduce((a, b) => a + b, 0), 0) / Math.max(1, recent.length);
  const longestWait = recent.reduce((longest, second) => Math.max(longest, second.queue_ms_max), 0);
  const { requests, concurrency } = tenant.limits;
  const limit = requests?.perSecond ?? (requests?.perMinute === undefined ? undefined : requests.perMinute / 60);
  return (
    <article className="panel tenant">
      <div className="tenant-head">
        <h3>{tenant.name}</h3>
        <span className="muted">
          {tenant.plan}
          {limit === undefined ? '' : ` · ${limit} req/s`}
          {concurrency === undefined ? '' : ` · ${concurrency.inFlight} in flight`}
        </span>
        <span className="grow" />
        <Standing tenant={tenant} />
      </div>
      <OutcomeBars label={tenant.name} seconds={tenant.seconds} max={max} limit={limit} />
      <p className="figures num">
        <strong>{perSecond.toFixed(1)}</strong> req/s now
        {OUTCOME_GROUPS.filter(({ id }) => id === 'ok' || totals[id] > 0).map(({ id, word }) => (
          <span key={id}>
            {' '}
            · <strong>{totals[id].toLocaleString('en-US')}</strong> {word}
          </span>
        ))}
        <span> · longest wait {longestWait.toFixed(1)} ms</span>
      </p>
    </article>
  );
}

function Standing({ tenant }: { tenant: Tenant }) {
  const recent = groupCounts(
    tenant.seconds.slice(-10).reduce<Tenant['totals']>((sums, { outcomes }) => {
      for (const [outcome, count] of Object.entries(outcomes) as [keyof Tenant['totals'], number][]) sums[outcome] = (sums[outcome] ?? 0) + count;
      return sums;
    }, {}),
  );
  if (recent.shed > 0) return <Badge tone="bad">shedding</Badge>;
  if (recent.quota > 0) return <Badge tone="bad">out of quota</Badge>;
  if (recent.throttled > 0) return <Badge tone="warn">throttled</Badge>;
  if (recent.upstream > 0) return <Badge tone="bad">upstream errors</Badge>;
  return recent.ok > 0 ? <Badge tone="good">well</Badge> : <Badge tone="plain">quiet</Badge>;
}
