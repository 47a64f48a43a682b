import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { OperatorState, Tenant } from '@sluice/contracts';
import { Badge } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { MoreRows } from '../edit/more-rows.tsx';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';
import { TenantForm } from './tenant-form.tsx';

/** Every customer: found, and made. */
export function TenantsPage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const [filter, setFilter] = useState({ q: '', plan: '' });
  const [making, setMaking] = useState(false);
  const refusal = useRefusal('admin');
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => api.tables.list('plans') });
  const tenants = useInfiniteQuery({
    queryKey: ['tenants', filter],
    queryFn: ({ pageParam }) => api.tables.page('tenants', { ...filter, limit: '50', cursor: pageParam }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  });
  const search = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setFilter({ q: String(form.get('q')).trim(), plan: String(form.get('plan')) });
  };
  return (
    <ListPanel
      id="tenants"
      title="Tenants"
      hint="customers: each buys a plan and has workspaces, which keys and people belong to"
      tools={
        <form className="inline" onSubmit={search}>
          <input name="q" placeholder="part of a name" aria-label="Part of a name" maxLength={100} />
          <select name="plan" aria-label="Plan">
            <option value="">every plan</option>
            {(plans.data ?? []).map(({ id, value }) => (
              <option key={id} value={id}>
                {value.displayName}
              </option>
            ))}
          </select>
          <button type="submit">Find</button>
        </form>
      }
      button={
        <button
          type="button"
          className="primary"
          disabled={refusal !== undefined || making}
          title={refusal}
          onClick={() => setMaking(true)}
        >
          New tenant
        </button>
      }
      problem={tenants.error}
      rows={tenants.data?.pages.flatMap((page) => page.rows)}
      keyOf={({ id }) => id}
      empty={
        filter.q === '' && filter.plan === ''
          ? 'There is no tenant yet. Make the first with “New tenant”.'
          : 'None matches.'
      }
      columns={[
        { head: 'tenant', cell: ({ id, value }) => <TenantName id={id} tenant={value} /> },
        {
          head: 'plan',
          cell: ({ value }) => (
            <Link to={`/plans/${encodeURIComponent(value.plan)}`}>
              {plans.data?.find(({ id }) => id === value.plan)?.value.displayName ?? value.plan}
            </Link>
          ),
        },
        {
          head: 'workspaces',
          cell: ({ id }) =>
            picture.tenants.find(({ tenant }) => tenant === id)?.workspaces.join(', ') || (
              <span className="muted">none yet</span>
            ),
        },
        { head: 'time zone', cell: ({ value }) => value.timeZone },
      ]}
      foot={<MoreRows query={tenants} noun="tenants" />}
    >
      {making && (
        <TenantForm
          api={api}
          row={undefined}
          onDone={(id) => go(`/tenants/${encodeURIComponent(id)}`)}
          onCancel={() => setMaking(false)}
        />
      )}
    </ListPanel>
  );
}

function TenantName({ id, tenant }: { id: string; tenant: Tenant }) {
  return (
    <>
      <Link to={`/tenants/${encodeURIComponent(id)}`}>{tenant.name}</Link>{' '}
      {tenant.status === 'suspended' && <Badge tone="warn">suspended</Badge>}
      <span className="muted small block">{id}</span>
    </>
  );
}
