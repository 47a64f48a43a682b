import type { OperatorState } from '@sluice/contracts';
import { groupCounts, OutcomeLegend } from '@sluice/ui';
import { TenantPanel } from './tenant-panel.tsx';

/** Every tenant's last two minutes on one scale, so that they can be compared. */
export function Tenants({ picture }: { picture: OperatorState }) {
  const max = scaleOf(picture.tenants);
  return (
    <section aria-labelledby="tenants">
      <div className="section-head">
        <h2 id="tenants">Tenants, the last two minutes</h2>
        <OutcomeLegend />
      </div>
      {picture.tenants.length === 0 ? (
        <p className="panel empty">No tenant is configured yet.</p>
      ) : (
        <div className="tenants">
          {picture.tenants.map((tenant) => (
            <TenantPanel key={tenant.tenant} tenant={tenant} max={max} />
          ))}
        </div>
      )}
    </section>
  );
}

/** A round number above the greatest second. */
export function scaleOf(tenants: OperatorState['tenants']): number {
  const greatest = Math.max(1, ...tenants.flatMap((tenant) => tenant.seconds.map(({ outcomes }) => Object.values(groupCounts(outcomes)).reduce((total, count) => total + count, 0))));
  const step = 10 ** Math.floor(Math.log10(greatest));
  return [1, 2, 5, 10].map((factor) => factor * step).find((round) => round >= greatest) ?? greatest;
}
