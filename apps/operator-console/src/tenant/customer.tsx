import { useState } from 'react';
import type { Tenant } from '@sluice/contracts';
import { Badge, formatNanoUsd } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { Problem } from '../edit/problem.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRemoval } from '../edit/use-removal.ts';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';
import { TenantForm } from './tenant-form.tsx';

/** What a tenant is: changed, deleted. */
export function Customer({ api, row, onChanged }: { api: OperatorApi; row: Row<Tenant>; onChanged: () => void }) {
  const [open, setOpen] = useState(false);
  const refusal = useRefusal('admin');
  const remove = useRemoval({
    remove: () => api.tables.remove('tenants', row.id, row.version),
    reload: onChanged,
    onGone: () => go('/tenants'),
  });
  const { name, plan, timeZone, status, overageCapNanoUsd } = row.value;
  const done = (): void => {
    setOpen(false);
    onChanged();
  };
  return (
    <section className="panel" aria-labelledby="customer">
      <div className="section-head">
        <h2 id="customer">Customer</h2>
        {status === 'suspended' && <Badge tone="warn">suspended: its calls are refused</Badge>}
        <span className="grow" />
        <Link to="/tenants">All tenants</Link>
        <button
          type="button"
          disabled={refusal !== undefined || open}
          title={refusal}
          aria-label={`Change ${name}`}
          onClick={() => setOpen(true)}
        >
          Change
        </button>
        <SureButton verb="Delete" name={name} refusal={refusal} disabled={remove.busy} onSure={remove.sure} />
      </div>
      <Problem error={remove.error} />
      {open ? (
        <TenantForm api={api} row={row} onDone={done} onCancel={() => setOpen(false)} />
      ) : (
        <dl className="facts">
          <div>
            <dt>name</dt>
            <dd>
              {name} <span className="muted">{row.id}</span>
            </dd>
          </div>
          <div>
            <dt>plan</dt>
            <dd>
              <Link to={`/plans/${encodeURIComponent(plan)}`}>{plan}</Link>
            </dd>
          </div>
          <div>
            <dt>time zone</dt>
            <dd>{timeZone}</dd>
          </div>
          <div>
            <dt>overage at most</dt>
            <dd>{overageCapNanoUsd === undefined ? "the plan's" : `${formatNanoUsd(overageCapNanoUsd)} a month`}</dd>
          </div>
        </dl>
      )}
    </section>
  );
}
