import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorState } from '@sluice/contracts';
import { formatCount, formatNanoUsd, formatPerMillion } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { NewDocument } from '../edit/new-document.tsx';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';

/** What is sold: each plan with its fee, what it includes, and who is on it. */
export function PlansPage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => api.tables.list('plans'), staleTime: 0 });
  const [making, setMaking] = useState(false);
  const refusal = useRefusal('admin');
  const onPlan = (id: string): OperatorState['tenants'] => picture.tenants.filter(({ plan }) => plan === id);
  const none = <span className="muted">–</span>;
  return (
    <ListPanel
      id="plans"
      title="Plans"
      hint="what is sold: the fee, what it includes, the limits that hold where a tenant or workspace says nothing of its own"
      button={
        <button
          type="button"
          disabled={refusal !== undefined || plans.data === undefined || making}
          title={refusal}
          onClick={() => setMaking(true)}
        >
          New plan
        </button>
      }
      problem={plans.error}
      rows={plans.data}
      keyOf={({ id }) => id}
      empty="There is no plan yet, and a tenant needs one. Make the first with “New plan”; its chain names the providers that serve it, so have a provider and a model first."
      columns={[
        {
          head: 'plan',
          cell: ({ id, value }) => (
            <>
              <Link to={`/plans/${encodeURIComponent(id)}`}>{value.displayName}</Link>{' '}
              <span className="muted small block">{id}</span>
            </>
          ),
        },
        { head: 'fee a month', figures: 'right', cell: ({ value }) => formatNanoUsd(value.allotment.feeNanoUsd) },
        { head: 'tokens included', figures: 'right', cell: ({ value }) => formatCount(value.allotment.totalTokens) },
        {
          head: 'further tokens, a million',
          figures: 'right',
          cell: ({ value: { allotment } }) =>
            allotment.overage === undefined ? (
              <span className="muted">not sold</span>
            ) : (
              formatPerMillion(allotment.overage.picoUsdPerToken)
            ),
        },
        {
          head: 'overage at most',
          figures: 'right',
          cell: ({ value: { allotment } }) =>
            allotment.overage === undefined ? none : formatNanoUsd(allotment.overage.capNanoUsd),
        },
        {
          head: 'prices',
          figures: 'right',
          cell: ({ value: { priceBook } }) => (
            <>
              {Object.keys(priceBook.prices).length} models{' '}
              <span className="muted small block">book {priceBook.version}</span>
            </>
          ),
        },
        { head: 'tenants', cell: ({ id }) => <TenantLinks tenants={onPlan(id)} /> },
      ]}
    >
      {making && plans.data !== undefined && (
        <NewDocument
          noun="plan"
          like={{
            ...Object.fromEntries(plans.data.map(({ id, value: { id: _own, ...rest } }) => [id, rest])),
            [EMPTY]: newPlan(picture.providers.map(({ provider }) => provider)),
          }}
          save={(id, value) => api.tables.put('plans', id, value, 'new')}
          onMade={(id) => go(`/plans/${encodeURIComponent(id)}`)}
          onCancel={() => setMaking(false)}
        />
      )}
    </ListPanel>
  );
}

/** What a plan is made of where there is none to copy. */
const EMPTY = 'an empty one';
const newPlan = (providers: readonly string[]) => ({
  displayName: 'New plan',
  policy: { limits: { quotas: [] }, routing: { chain: providers.map((provider) => ({ provider })) } },
  tenantLimits: { requests: { perSecond: 10, burst: 20 }, concurrency: { inFlight: 20, queued: 20 }, quotas: [] },
  priceBook: { version: 1, effectiveFrom: '2026-01-01T00:00:00.000Z', prices: {} },
  allotment: { totalTokens: 1_000_000, feeNanoUsd: 0 },
});

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
