import type { OperatorState } from '@sluice/contracts';
import { Badge, groupCounts, OutcomeBars, OUTCOME_GROUPS } from '@sluice/ui';
import { Link } from '../routing/location.tsx';

type Tenant = OperatorState['tenants'][number];

const RECENT_S = 10;

/** One tenant's bars with its limit, and in words what its calls became. */
export function TenantPanel({ tenant, max }: { tenant: Tenant; max: number }) {
  const totals = groupCounts(tenant.totals);
  const recent = tenant.seconds.slice(-RECENT_S);
  const perSecond =
    recent.reduce((sum, second) => sum + Object.values(groupCounts(second.outcomes)).reduce((a, b) => a + b, 0), 0) /
    Math.max(1, recent.length);
  const longestWait = recent.reduce((longest, second) => Math.max(longest, second.queue_ms_max), 0);
  const { concurrency } = tenant.limits;
  const limit = limitOf(tenant);
  return (
    <article className="panel tenant" data-tenant={tenant.tenant}>
      <div className="tenant-head">
        <h3>
          <Link to={`/tenants/${encodeURIComponent(tenant.tenant)}`}>{tenant.name}</Link>
        </h3>
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
        <strong>{perSecond.toFixed(1)}</strong> req/s now · longest wait {longestWait.toFixed(1)} ms
        <br />
        {OUTCOME_GROUPS.filter(({ id }) => id === 'ok' || totals[id] > 0).map(({ id, word }, index) => (
          <span key={id} data-outcome={id}>
            {index > 0 && ' · '}
            <strong>{totals[id].toLocaleString('en-US')}</strong> {word}
          </span>
        ))}{' '}
        in two minutes
      </p>
    </article>
  );
}

/** Requests per second that the tenant's own limit lets through; undefined when it has none. */
export function limitOf({ limits: { requests } }: Pick<Tenant, 'limits'>): number | undefined {
  return requests?.perSecond ?? (requests?.perMinute === undefined ? undefined : requests.perMinute / 60);
}

/** In a word what becomes of a tenant's calls now. */
export function Standing({ tenant }: { tenant: Tenant }) {
  const recent = groupCounts(
    tenant.seconds.slice(-RECENT_S).reduce<Tenant['totals']>((sums, { outcomes }) => {
      for (const [outcome, count] of Object.entries(outcomes) as [keyof Tenant['totals'], number][])
        sums[outcome] = (sums[outcome] ?? 0) + count;
      return sums;
    }, {}),
  );
  if (recent.upstream > 0) return <Badge tone="bad">failing upstream</Badge>;
  if (recent.quota > 0) return <Badge tone="bad">out of quota</Badge>;
  if (recent.shed > 0 && recent.throttled > 0) return <Badge tone="warn">throttled and shed</Badge>;
  if (recent.shed > 0) return <Badge tone="bad">shedding</Badge>;
  if (recent.throttled > 0) return <Badge tone="warn">throttled</Badge>;
  return recent.ok > 0 ? <Badge tone="good">well</Badge> : <Badge tone="plain">quiet</Badge>;
}
