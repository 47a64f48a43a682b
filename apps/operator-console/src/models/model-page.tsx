import { useQuery } from '@tanstack/react-query';
import type { Model, ModelAbility } from '@sluice/contracts';
import { Badge, formatCount, formatPerMillion, ScrollX } from '@sluice/ui';
import { ApiError } from '../api/call.ts';
import { type OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { DocumentEditor } from '../edit/document-editor.tsx';
import { setAt } from '../edit/document-paths.ts';
import { DocumentFields, type DocumentField } from '../edit/document-fields.tsx';
import { Problem } from '../edit/problem.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRemoval } from '../edit/use-removal.ts';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';

const FIELDS: readonly DocumentField[] = [
  { label: 'name', path: ['displayName'] },
  { label: 'context, tokens', path: ['contextTokens'], scale: 1 },
  { label: 'longest answer, tokens', path: ['maxOutputTokens'], scale: 1 },
  { label: 'quality tier, 0 to 10', path: ['tier'], scale: 1 },
];

const ABILITIES = [
  'chat',
  'embeddings',
  'tools',
  'images',
  'json',
  'reasoning',
  'audio',
] as const satisfies readonly ModelAbility[];

/** One model of the catalogue: what it can, who has it at which price, what customers pay. */
export function ModelPage({ api, id }: { api: OperatorApi; id: string }) {
  const model = useQuery({ queryKey: ['model', id], queryFn: () => api.tables.get('models', id), staleTime: 0 });
  if (model.isPending) return <p className="muted">One moment…</p>;
  if (model.data === undefined) {
    const gone = model.error instanceof ApiError && model.error.status === 404;
    return (
      <section className="panel">
        <h2>{gone ? `There is no model ${id}` : `The model ${id} could not be read`}</h2>
        {!gone && <Problem error={model.error} />}
        <Link to="/models">All models</Link>
      </section>
    );
  }
  return (
    <>
      <Summary api={api} row={model.data} onChanged={() => void model.refetch()} />
      <div className="columns">
        <Offers model={model.data.value} />
        <BilledPrices api={api} id={id} />
      </div>
      <section className="panel" aria-labelledby="configuration">
        <h2 id="configuration">Configuration of {id}</h2>
        <DocumentEditor
          label="The model; prices of offers are picodollars a token"
          loaded={model.data}
          reload={async () => {
            const { data, error } = await model.refetch();
            if (data === undefined) throw error ?? new Error('The model could not be read again.');
            return data;
          }}
          save={(value, version) => api.tables.put('models', id, value, version)}
          onSaved={() => undefined}
          needs="admin"
          fields={(document, change) => (
            <DocumentFields legend="What it is" fields={FIELDS} document={document} change={change}>
              <Abilities document={document} change={change} />
            </DocumentFields>
          )}
        />
      </section>
    </>
  );
}

function Abilities({ document, change }: { document: unknown; change: (next: unknown) => void }) {
  const { abilities } = document as { abilities?: unknown };
  const own: readonly unknown[] = Array.isArray(abilities) ? abilities : [];
  return (
    <div role="group" aria-label="What it can" className="inline whole-row">
      {ABILITIES.map((ability) => (
        <label key={ability} className="inline">
          <input
            type="checkbox"
            checked={own.includes(ability)}
            onChange={(event) =>
              change(
                setAt(
                  document,
                  ['abilities'],
                  event.target.checked ? [...own, ability] : own.filter((one) => one !== ability),
                ),
              )
            }
          />
          {ability}
        </label>
      ))}
    </div>
  );
}

function Summary({ api, row, onChanged }: { api: OperatorApi; row: Row<Model>; onChanged: () => void }) {
  const { id, displayName, contextTokens, maxOutputTokens, tier, retirement } = row.value;
  const refusal = useRefusal('admin');
  const remove = useRemoval({
    remove: () => api.tables.remove('models', id, row.version),
    reload: onChanged,
    onGone: () => go('/models'),
  });
  return (
    <section className="panel" aria-labelledby="model">
      <div className="section-head">
        <h2 id="model">
          {displayName} <span className="muted">{id}</span>
        </h2>
        {retirement !== undefined && (
          <Badge tone="warn">
            retires {new Date(retirement.at).toLocaleDateString('en-GB', { dateStyle: 'medium' })}
            {retirement.successor === undefined ? '' : `, then ${retirement.successor}`}
          </Badge>
        )}
        <span className="grow" />
        <Link to="/models">All models</Link>
        <SureButton verb="Delete" name={displayName} refusal={refusal} disabled={remove.busy} onSure={remove.sure} />
      </div>
      <p className="num">
        Takes {formatCount(contextTokens)} tokens, answers with {formatCount(maxOutputTokens)} at most. Quality tier{' '}
        {tier}.
      </p>
      <Problem error={remove.error} />
    </section>
  );
}

function Offers({ model }: { model: Model }) {
  return (
    <section className="panel" aria-labelledby="offers">
      <h2 id="offers">Who has it, and what we pay</h2>
      <ScrollX label="Providers that have it">
        <table>
          <thead>
            <tr>
              <th scope="col">provider</th>
              <th scope="col">its name there</th>
              <th scope="col" className="num">
                input, a million
              </th>
              <th scope="col" className="num">
                output, a million
              </th>
            </tr>
          </thead>
          <tbody>
            {model.offers.map((offer) => (
              <tr key={`${offer.provider} ${offer.providerModel}`}>
                <th scope="row" className="row-name">
                  <Link to={`/providers/${encodeURIComponent(offer.provider)}`}>{offer.provider}</Link>
                </th>
                <td>
                  <code>{offer.providerModel}</code>
                </td>
                <td className="num">
                  {offer.price === undefined ? (
                    <span className="muted">not known</span>
                  ) : (
                    formatPerMillion(offer.price.inputPicoUsd)
                  )}
                </td>
                <td className="num">
                  {offer.price === undefined ? (
                    <span className="muted">not known</span>
                  ) : (
                    formatPerMillion(offer.price.outputPicoUsd)
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollX>
    </section>
  );
}

function BilledPrices({ api, id }: { api: OperatorApi; id: string }) {
  const plans = useQuery({ queryKey: ['plans'], queryFn: () => api.tables.list('plans') });
  return (
    <section className="panel" aria-labelledby="billed">
      <h2 id="billed">What customers pay</h2>
      <Problem error={plans.error} />
      <ScrollX label="Prices by plan">
        <table>
          <thead>
            <tr>
              <th scope="col">plan</th>
              <th scope="col" className="num">
                input, a million
              </th>
              <th scope="col" className="num">
                output, a million
              </th>
            </tr>
          </thead>
          <tbody>
            {(plans.data ?? []).map(({ id: plan, value }) => {
              const price = value.priceBook.prices[id];
              return (
                <tr key={plan}>
                  <th scope="row" className="row-name">
                    <Link to={`/plans/${encodeURIComponent(plan)}`}>{value.displayName}</Link>
                  </th>
                  <td className="num">
                    {price === undefined ? (
                      <span className="muted">no price</span>
                    ) : (
                      formatPerMillion(price.inputPicoUsd)
                    )}
                  </td>
                  <td className="num">
                    {price === undefined ? (
                      <span className="muted">no price</span>
                    ) : (
                      formatPerMillion(price.outputPicoUsd)
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollX>
    </section>
  );
}
