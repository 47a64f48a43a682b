import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorState, Plan } from '@sluice/contracts';
import { formatCount, formatNanoUsd, formatPerMillion, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { NewDocument } from '../edit/new-document.tsx';
import { Problem } from '../edit/problem.tsx';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';

/** What is sold: each plan with its fee, what it includes, and who is on it. */
export function PlansPage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => api.tables.list('plans'), staleTime: 0 });
  const [making, setMaking] = useState(false);
  const refusal = useRefusal('admin');
  return (
    <section className="panel" aria-labelledby="plans">
      <div className="section-head">
        <h2 id="plans">Plans</h2>
        <span className="muted">what is sold: the fee, what it includes, the limits that hold where a tenant or workspace says nothing of its own</span>
        <span className="grow" />
        <button type="button" disabled={refusal !== undefined || (plans.data ?? []).length === 0 || making} title={refusal} onClick={() => setMaking(true)}>
          New plan
        </button>
      </div>
      <Problem error={plans.error} />
      {plans.isPending && <p className="muted">One moment…</p>}
      {making && plans.data !== undefined && (
        <NewDocument
          noun="plan"
          like={Object.fromEntries(plans.data.map(({ id, value: { id: _own, ...rest } }) => [id, rest]))}
          save={(id, value) => api.tables.put('plans', id, value, 'new')}
          onMade={(id) => go(`/plans/${encodeURIComponent(id)}`)}
          onCancel={() => setMaking(false)}
        />
      )}
      {plans.data?.length === 0 && <p className="empty">There is no plan yet. The first one comes from a file: <code>npx sluice apply -f platform.yaml</code></p>}
      {plans.data !== undefined && plans.data.length > 0 && (
        <ScrollX label="Plans">
          <table>
            <thead>
              <tr>
                <th scope="col">plan</th>
                <th scope="col" className="num">
                  fee a month
                </th>
                <th scope="col" className="num">
                  tokens included
                </th>
                <th scope="col" className="num">
                  further tokens, a million
                </th>
                <th scope="col" className="num">
                  overage at most
                </th>
                <th scope="col" className="num">
                  prices
                </th>
                <th scope="col">tenants</th>
              </tr>
            </thead>
            <tbody>
              {plans.data.map(({ id, value }) => (
                <PlanRow key={id} plan={value} tenants={picture.tenants.filter(({ plan }) => plan === id)} />
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
    </section>
  );
}

function PlanRow({ plan, tenants }: { plan: Plan; tenants: OperatorState['tenants'] }) {
  const { totalTokens, feeNanoUsd, overage } = plan.allotment;
  return (
    <tr>
      <th scope="row" className="row-name">
        <Link to={`/plans/${encodeURIComponent(plan.id)}`}>{plan.displayName}</Link> <span className="muted small block">{plan.id}</span>
      </th>
      <td className="num">{formatNanoUsd(feeNanoUsd)}</td>
      <td className="num">{formatCount(totalTokens)}</td>
      <td className="num">{overage === undefined ? <span className="muted">not sold</span> : formatPerMillion(overage.picoUsdPerToken)}</td>
      <td className="num">{overage === undefined ? <span className="muted">–</span> : formatNanoUsd(overage.capNanoUsd)}</td>
      <td className="num">
        {Object.keys(plan.priceBook.prices).length} models <span className="muted small block">book {plan.priceBook.version}</span>
      </td>
      <td>
        <TenantLinks tenants={tenants} />
      </td>
    </tr>
  );
}

const SHOWN = 6;

/** Tenants by name, each a link; of many the first ones. */
export function TenantLinks({ tenants }: { tenants: OperatorState['tenants'] }) {
  if (tenants.length === 0) return <span className="muted">none</span>;
  return (
    <>
      {tenants.slice(0, SHOWN).map(({ tenant, name }, index) => (
        <span key={tenant}>
          {index > 0 && ', '}
          <Link to={`/tenants/${encodeURIComponent(tenant)}`}>{name}</Link>
        </span>
      ))}
      {tenants.length > SHOWN && ` and ${tenants.length - SHOWN} more`}
    </>
  );
}
