import { OVERAGE_WINDOW, type Tenant } from '@sluice/contracts';

const isDerived = ({ id }: Tenant['limits']['quotas'][number]): boolean => id === OVERAGE_WINDOW;

/** The tenant without the quota window that is derived from plan and cap: nobody declares it. */
export function withoutDerived(tenant: Tenant): Tenant {
  return {
    ...tenant,
    limits: { ...tenant.limits, quotas: tenant.limits.quotas.filter((window) => !isDerived(window)) },
  };
}

/**
 * A written tenant with the derived window of what was there, so that no write takes a cap away, not even for a
 * moment.
 */
export function keepDerived(written: Tenant, old: Tenant | undefined): Tenant {
  const derived = old?.limits.quotas.filter(isDerived) ?? [];
  const own = withoutDerived(written);
  return { ...own, limits: { ...own.limits, quotas: [...own.limits.quotas, ...derived] } };
}
