import { useQuery } from '@tanstack/react-query';
import type { OVERAGE_WINDOW, Plan, Tenant } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { DocumentForm, type FieldGroup } from '../edit/document-form.tsx';
import type { FormField } from '../edit/form-fields.ts';
import { valueAt, withValue } from '../edit/document-paths.ts';
import { Problem } from '../edit/problem.tsx';
import { Link } from '../routing/location.tsx';

export interface TenantFormProps {
  readonly api: OperatorApi;
  /** Who is changed; a new one when absent. */
  readonly row: Row<Tenant> | undefined;
  readonly onDone: (id: string) => void;
  readonly onCancel: () => void;
}

/** Makes a tenant, or changes what it is called, buys and may use. */
export function TenantForm({ api, row, onDone, onCancel }: TenantFormProps) {
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => api.tables.list('plans') });
  if (plans.data === undefined)
    return plans.error === null ? <p className="muted">One moment…</p> : <Problem error={plans.error} />;
  if (plans.data.length === 0) {
    return (
      <p className="notice info">
        A tenant buys a plan, and there is none yet. <Link to="/plans">Make a plan</Link> first.
      </p>
    );
  }
  const known = plans.data.map(({ value }) => value);
  return (
    <DocumentForm<Tenant>
      label={row === undefined ? 'A new tenant' : `Tenant ${row.value.name}`}
      row={row}
      read={withoutDerived}
      start={{ limits: { quotas: [] } }}
      groups={(document, isNew) => groupsOf(document, isNew, known)}
      save={(document, version) => api.tables.put('tenants', row?.id ?? idOf(document), document, version)}
      reload={() => api.tables.get('tenants', row?.id ?? '')}
      onDone={(document) => onDone(row?.id ?? idOf(document))}
      onCancel={onCancel}
      verb={row === undefined ? 'Make the tenant' : 'Save'}
      note={
        row === undefined
          ? 'Then give it a workspace, which keys and people belong to.'
          : 'In force on every gateway in under a second.'
      }
      taken={(document) => `There is a tenant “${idOf(document)}” already. Choose another id, or change that one.`}
    />
  );
}

const DERIVED: typeof OVERAGE_WINDOW = 'overage-cap';
/** The window of the overage cap is made by the control plane of plan and cap, and comes and goes by itself. */
const withoutDerived = (tenant: Tenant): Tenant => ({
  ...tenant,
  limits: { ...tenant.limits, quotas: tenant.limits.quotas.filter(({ id }) => id !== DERIVED) },
});

const idOf = (document: unknown): string => String(valueAt(document, ['id']) ?? '');
const NANO = 1e9;
const LIMITS = [
  { label: 'Requests a second', path: ['limits', 'requests', 'perSecond'] },
  { label: 'Requests at once', path: ['limits', 'requests', 'burst'] },
  { label: 'Calls in flight', path: ['limits', 'concurrency', 'inFlight'] },
  { label: 'Of which may wait', path: ['limits', 'concurrency', 'queued'] },
  { label: 'Tokens a minute', path: ['limits', 'tokens', 'perMinute'] },
] as const;

function groupsOf(document: unknown, isNew: boolean, plans: readonly Plan[]): readonly FieldGroup[] {
  const plan = plans.find(({ id }) => id === valueAt(document, ['plan']));
  const inherited = { limits: plan?.tenantLimits };
  const customer: FormField[] = [
    ...(isNew
      ? [{ label: 'Id', path: ['id'], required: true, hint: 'Letters, digits and hyphens; it never changes.' }]
      : []),
    { label: 'Name', path: ['name'], required: true },
    {
      label: 'Plan',
      path: ['plan'],
      required: true,
      choices: plans.map(({ id, displayName }) => ({ value: id, word: displayName })),
    },
    {
      label: 'Time zone',
      path: ['timeZone'],
      placeholder: 'UTC',
      hint: 'Its days and months begin in it.',
      suggestions: Intl.supportedValuesOf('timeZone'),
    },
    {
      label: 'Calls',
      path: ['status'],
      choices: [
        { value: isNew ? undefined : 'active', word: 'are served' },
        { value: 'suspended', word: 'are refused: suspended' },
      ],
    },
    { label: 'Overage a month at most, $', path: ['overageCapNanoUsd'], scale: NANO, placeholder: capOf(plan) },
  ];
  const limits = LIMITS.map(({ label, path }): FormField => {
    const own = valueAt(inherited, path);
    return {
      label,
      path,
      scale: 1,
      placeholder: typeof own === 'number' ? `plan: ${own.toLocaleString('en-US')}` : 'no limit',
      write: (whole, value) => withValue(whole, path, String(value ?? ''), inherited),
    };
  });
  return [
    { legend: 'Who it is, and what it buys', fields: customer },
    { legend: "Limits of all its workspaces together; an empty field is the plan's", fields: limits },
  ];
}

function capOf(plan: Plan | undefined): string {
  if (plan === undefined) return '';
  const cap = plan.allotment.overage?.capNanoUsd;
  return cap === undefined ? 'no overage is sold' : `plan: ${(cap / NANO).toLocaleString('en-US')}`;
}
