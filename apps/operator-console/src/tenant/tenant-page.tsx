import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorState, StateTenant } from '@sluice/contracts';
import {
  Badge,
  formatCount,
  formatNanoUsd,
  groupCounts,
  LineChart,
  OutcomeBars,
  OutcomeLegend,
  OUTCOME_GROUPS,
} from '@sluice/ui';
import { ApiError } from '../api/call.ts';
import { type OperatorApi } from '../api/operator-api.ts';
import { DocumentEditor } from '../edit/document-editor.tsx';
import { LimitFields } from '../edit/limit-fields.tsx';
import { Problem } from '../edit/problem.tsx';
import { limitOf, Standing } from '../overview/tenant-panel.tsx';
import { scaleOf } from '../overview/tenants.tsx';
import { RequestTable } from '../requests/request-table.tsx';
import { Link } from '../routing/location.tsx';
import { Customer } from './customer.tsx';
import { Keys } from './keys.tsx';
import { Workspaces } from './workspaces.tsx';

/** One tenant: what becomes of its calls, what it is, its workspaces, and per workspace policy and keys. */
export function TenantPage({ api, picture, id }: { api: OperatorApi; picture: OperatorState; id: string }) {
  const live = picture.tenants.find((one) => one.tenant === id);
  const row = useQuery({
    queryKey: ['tenant', id],
    queryFn: () => api.tables.get('tenants', id),
    staleTime: 0,
    refetchInterval: 5_000,
  });
  const [chosen, setChosen] = useState<string>();
  if (live === undefined && row.isPending) return <p className="muted">One moment…</p>;
  if (live === undefined && row.data === undefined) {
    const gone = row.error instanceof ApiError && row.error.status === 404;
    return (
      <section className="panel">
        <h2>{gone ? `There is no tenant ${id}` : `The tenant ${id} could not be read`}</h2>
        {!gone && <Problem error={row.error} />}
        <Link to="/tenants">All tenants</Link>
      </section>
    );
  }
  const slugs = live?.workspaces ?? [];
  const slug = chosen !== undefined && slugs.includes(chosen) ? chosen : slugs[0];
  return (
    <>
      {live !== undefined && <Traffic tenant={live} />}
      {live !== undefined && slugs.length > 0 && <Requests api={api} tenant={live} />}
      <div className="columns">
        {row.data === undefined ? (
          <Problem error={row.error} />
        ) : (
          <Customer api={api} row={row.data} onChanged={() => void row.refetch()} />
        )}
        <Workspaces api={api} tenant={id} />
      </div>
      {slug !== undefined && (
        <>
          {slugs.length > 1 && (
            <div role="group" aria-label="Workspace" className="tabs">
              {slugs.map((one) => (
                <button key={one} type="button" aria-pressed={one === slug} onClick={() => setChosen(one)}>
                  {one}
                </button>
              ))}
            </div>
          )}
          <div className="columns">
            <PolicyPanel key={`policy ${slug}`} api={api} slug={slug} />
            <Keys key={`keys ${slug}`} api={api} slug={slug} />
          </div>
        </>
      )}
    </>
  );
}

function Traffic({ tenant }: { tenant: StateTenant }) {
  const totals = groupCounts(tenant.totals);
  return (
    <section className="panel" aria-labelledby="traffic">
      <div className="section-head">
        <h2 id="traffic">
          {tenant.name} <span className="muted">{tenant.plan}</span>
        </h2>
        <Standing tenant={tenant} />
        <span className="grow" />
        <OutcomeLegend />
      </div>
      <OutcomeBars
        label={tenant.name}
        seconds={tenant.seconds}
        max={Math.max(scaleOf(tenant), limitOf(tenant) ?? 0)}
        limit={limitOf(tenant)}
      />
      <div className="columns tight">
        <div>
          <h3 className="muted">Calls of the last two minutes</h3>
          <dl className="facts num">
            {OUTCOME_GROUPS.map(({ id, word, means }) => (
              <div key={id} title={means}>
                <dt>{word}</dt>
                <dd>{formatCount(totals[id])}</dd>
              </div>
            ))}
          </dl>
        </div>
        <div>
          <h3 className="muted">Limits of all its workspaces together</h3>
          <Limits limits={tenant.limits} />
        </div>
      </div>
      <LineChart
        label="Wait for a free slot at a provider"
        series={[
          { label: 'longest wait', values: tenant.seconds.map((second) => second.queue_ms_max) },
          { label: 'mean wait', values: tenant.seconds.map((second) => second.queue_ms_mean) },
        ]}
        max={5}
        format={(ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`}
        left="2 min ago"
        right="now"
        height={60}
      />
    </section>
  );
}

function Limits({ limits: { requests, concurrency, tokens, quotas } }: Pick<StateTenant, 'limits'>) {
  if (requests === undefined && concurrency === undefined && tokens === undefined && quotas.length === 0)
    return <p className="muted">It has none.</p>;
  return (
    <dl className="facts num">
      {requests !== undefined && (
        <Fact
          name="rate"
          value={`${requests.perSecond === undefined ? `${formatCount(requests.perMinute ?? 0)} requests/min` : `${requests.perSecond} requests/s`}, ${requests.burst} at once`}
        />
      )}
      {concurrency !== undefined && (
        <Fact name="in flight" value={`${concurrency.inFlight}, ${concurrency.queued} of them may wait`} />
      )}
      {tokens !== undefined && <Fact name="tokens" value={`${formatCount(tokens.perMinute)}/min`} />}
      {quotas.map((quota) => (
        <Fact
          key={quota.id}
          name={quota.id.replaceAll('-', ' ')}
          value={`${quota.meter === 'cost_nanousd' ? formatNanoUsd(quota.limit) : `${formatCount(quota.limit)} ${quota.meter.replace('_', ' ')}`}, ${quota.mode === 'hard' ? 'then refused' : 'then a warning'}`}
        />
      ))}
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Requests({ api, tenant }: { api: OperatorApi; tenant: StateTenant }) {
  const newest = useQuery({
    queryKey: ['ledger', tenant.tenant],
    queryFn: () => api.ledger({ tenant: tenant.tenant, limit: 8 }),
    refetchInterval: 5_000,
  });
  return (
    <section className="panel" aria-labelledby="newest">
      <div className="section-head">
        <h2 id="newest">Newest requests</h2>
        <span className="grow" />
        <Link to={`/requests?tenant=${encodeURIComponent(tenant.tenant)}`}>All of {tenant.name}</Link>
      </div>
      <RequestTable rows={newest.data?.rows} problem={newest.error?.message} withTenant={false} />
    </section>
  );
}

function PolicyPanel({ api, slug }: { api: OperatorApi; slug: string }) {
  const policy = useQuery({ queryKey: ['policy', slug], queryFn: () => api.policy(slug) });
  return (
    <section className="panel" aria-labelledby="policy">
      <div className="section-head">
        <h2 id="policy">Policy of {slug}</h2>
        {policy.data !== undefined && <Badge tone="plain">priority {policy.data.effective.priority}</Badge>}
      </div>
      {policy.isError && (
        <p className="notice bad" role="alert">
          {policy.error.message}
        </p>
      )}
      {policy.isPending && <p className="muted">One moment…</p>}
      {policy.data !== undefined && (
        <DocumentEditor
          label="Overrides of the plan"
          loaded={policy.data}
          reload={async () => {
            const { data } = await policy.refetch();
            if (data === undefined) throw new Error('The policy could not be read again.');
            return data;
          }}
          save={(value, version) => api.savePolicy(slug, value, version)}
          onSaved={() => undefined}
          needs="admin"
          fields={(document, change) => (
            <LimitFields document={document} effective={policy.data.effective} change={change} />
          )}
        />
      )}
    </section>
  );
}
