import { useQuery } from '@tanstack/react-query';
import type { OperatorState, Plan } from '@sluice/contracts';
import { formatCount, formatNanoUsd, formatPerMillion } from '@sluice/ui';
import { ApiError, type Versioned } from '../api/call.ts';
import { type OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { DocumentEditor } from '../edit/document-editor.tsx';
import { DocumentFields, type DocumentField } from '../edit/document-fields.tsx';
import { Problem } from '../edit/problem.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRemoval } from '../edit/use-removal.ts';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';
import { TenantLinks } from './plans-page.tsx';
import { PriceFields } from './price-fields.tsx';

const NANO = 1e9;
const FIELDS: readonly DocumentField[] = [
  { label: 'name', path: ['displayName'] },
  { label: 'fee a month, $', path: ['allotment', 'feeNanoUsd'], scale: NANO },
  { label: 'tokens included a month', path: ['allotment', 'totalTokens'], scale: 1 },
  { label: 'a million further tokens, $', path: ['allotment', 'overage', 'picoUsdPerToken'], scale: 1e6 },
  { label: 'overage a month at most, $', path: ['allotment', 'overage', 'capNanoUsd'], scale: NANO },
];

/** One plan: its terms and limits, and what its customers pay for each model. */
export function PlanPage({ api, picture, id }: { api: OperatorApi; picture: OperatorState; id: string }) {
  const plan = useQuery({ queryKey: ['plan', id], queryFn: () => api.tables.get('plans', id), staleTime: 0 });
  const reload = async (): Promise<Row<Plan>> => {
    const { data, error } = await plan.refetch();
    if (data === undefined) throw error ?? new Error('The plan could not be read again.');
    return data;
  };
  if (plan.isPending) return <p className="muted">One moment…</p>;
  if (plan.data === undefined) {
    const gone = plan.error instanceof ApiError && plan.error.status === 404;
    return (
      <section className="panel">
        <h2>{gone ? `There is no plan ${id}` : `The plan ${id} could not be read`}</h2>
        {!gone && <Problem error={plan.error} />}
        <Link to="/plans">All plans</Link>
      </section>
    );
  }
  return (
    <>
      <Summary api={api} row={plan.data} picture={picture} onChanged={() => void plan.refetch()} />
      <div className="columns">
        <section className="panel" aria-labelledby="terms">
          <h2 id="terms">Terms and limits</h2>
          <DocumentEditor
            label="The plan without its prices"
            loaded={terms(plan.data)}
            reload={async () => terms(await reload())}
            // The prices are those of the version that is replaced; if that is not the newest, the control plane
            // refuses.
            save={async (value, version) =>
              api.tables.put(
                'plans',
                id,
                { ...(value as object), priceBook: (await api.tables.get('plans', id)).value.priceBook },
                version,
              )
            }
            onSaved={() => undefined}
            needs="admin"
            fields={(document, change) => (
              <DocumentFields
                legend="Terms; without the last two no further tokens are sold"
                fields={FIELDS}
                document={document}
                change={change}
              />
            )}
          />
        </section>
        <section className="panel" aria-labelledby="prices">
          <div className="section-head">
            <h2 id="prices">Prices</h2>
            <span className="muted num">
              book {plan.data.value.priceBook.version}, since{' '}
              {new Date(plan.data.value.priceBook.effectiveFrom).toLocaleString('en-GB', {
                dateStyle: 'medium',
                timeStyle: 'short',
              })}
            </span>
          </div>
          <p className="muted">
            What customers are billed. Saving makes a new book; calls that were billed keep theirs.
          </p>
          <DocumentEditor
            label="Picodollars a token"
            loaded={prices(plan.data)}
            reload={async () => prices(await reload())}
            save={(value, version) => api.tables.putPrices(id, value, version)}
            onSaved={() => undefined}
            needs="admin"
            fields={(document, change) => <PriceFields api={api} document={document} change={change} />}
          />
        </section>
      </div>
    </>
  );
}

const terms = ({ value: { priceBook: _book, ...value }, version }: Row<Plan>): Versioned<Omit<Plan, 'priceBook'>> => ({
  value,
  version,
});
const prices = ({ value, version }: Row<Plan>): Versioned<Plan['priceBook']['prices']> => ({
  value: value.priceBook.prices,
  version,
});

function Summary({
  api,
  row,
  picture,
  onChanged,
}: {
  api: OperatorApi;
  row: Row<Plan>;
  picture: OperatorState;
  onChanged: () => void;
}) {
  const { id, displayName, allotment } = row.value;
  const refusal = useRefusal('admin');
  const remove = useRemoval({
    remove: () => api.tables.remove('plans', id, row.version),
    reload: onChanged,
    onGone: () => go('/plans'),
  });
  const { overage } = allotment;
  return (
    <section className="panel" aria-labelledby="plan">
      <div className="section-head">
        <h2 id="plan">
          {displayName} <span className="muted">{id}</span>
        </h2>
        <span className="grow" />
        <Link to="/plans">All plans</Link>
        <SureButton verb="Delete" name={displayName} refusal={refusal} disabled={remove.busy} onSure={remove.sure} />
      </div>
      <p className="num">
        {formatNanoUsd(allotment.feeNanoUsd)} a month with {formatCount(allotment.totalTokens)} tokens.{' '}
        {overage === undefined
          ? 'No further tokens are sold.'
          : `Further ones cost ${formatPerMillion(overage.picoUsdPerToken)} a million, up to ${formatNanoUsd(overage.capNanoUsd)} a month unless the customer sets another cap.`}
      </p>
      <p>
        <span className="muted">Tenants on it:</span>{' '}
        <TenantLinks tenants={picture.tenants.filter(({ plan }) => plan === id)} />
      </p>
      <Problem error={remove.error} />
    </section>
  );
}
