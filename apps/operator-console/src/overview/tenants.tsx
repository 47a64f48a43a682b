import type { OperatorState } from '@sluice/contracts';
import { groupCounts, OutcomeLegend } from '@sluice/ui';
import { TenantPanel } from './tenant-panel.tsx';

/** Every tenant's last two minutes, each on a scale of its own: on the flooder's the others' bars would vanish. */
export function Tenants({ picture }: { picture: OperatorState }) {
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
            <TenantPanel key={tenant.tenant} tenant={tenant} max={scaleOf(tenant)} />
          ))}
        </div>
      )}
    </section>
  );
}

/** Small traffic is drawn small. */
const LEAST = 10;

/** A round number above the tenant's greatest second. */
export function scaleOf({ seconds }: Pick<OperatorState['tenants'][number], 'seconds'>): number {
  const greatest = Math.max(
    LEAST,
    ...seconds.map(({ outcomes }) => Object.values(groupCounts(outcomes)).reduce((total, count) => total + count, 0)),
  );
  const step = 10 ** Math.floor(Math.log10(greatest));
  return [1, 2, 5, 10].map((factor) => factor * step).find((round) => round >= greatest) ?? greatest;
}
