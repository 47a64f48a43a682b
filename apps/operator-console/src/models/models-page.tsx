import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Model } from '@sluice/contracts';
import { Badge, formatCount, formatPerMillion, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { NewDocument } from '../edit/new-document.tsx';
import { Problem } from '../edit/problem.tsx';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';

/** The catalogue: what customers may ask for, who has it, and what it costs us there. */
export function ModelsPage({ api }: { api: OperatorApi }) {
  const models = useQuery({ queryKey: ['models'], queryFn: () => api.tables.list('models'), staleTime: 0 });
  const [making, setMaking] = useState(false);
  const refusal = useRefusal('admin');
  return (
    <section className="panel" aria-labelledby="models">
      <div className="section-head">
        <h2 id="models">Models</h2>
        <span className="muted">the catalogue: what customers may ask for, who has it, and what we pay there for a million tokens</span>
        <span className="grow" />
        <button type="button" disabled={refusal !== undefined || (models.data ?? []).length === 0 || making} title={refusal} onClick={() => setMaking(true)}>
          New model
        </button>
      </div>
      <Problem error={models.error} />
      {models.isPending && <p className="muted">One moment…</p>}
      {making && models.data !== undefined && (
        <NewDocument
          noun="model"
          like={Object.fromEntries(models.data.map(({ id, value: { id: _own, ...rest } }) => [id, rest]))}
          save={(id, value) => api.tables.put('models', id, value, 'new')}
          onMade={(id) => go(`/models/${encodeURIComponent(id)}`)}
          onCancel={() => setMaking(false)}
        />
      )}
      {models.data?.length === 0 && <p className="empty">The catalogue is empty. The first models come from a file: <code>npx sluice apply -f platform.yaml</code></p>}
      {models.data !== undefined && models.data.length > 0 && (
        <ScrollX label="Models">
          <table>
            <thead>
              <tr>
                <th scope="col">model</th>
                <th scope="col">can</th>
                <th scope="col" className="num">
                  context, tokens
                </th>
                <th scope="col" className="num">
                  longest answer
                </th>
                <th scope="col">providers, and our price of input / output</th>
              </tr>
            </thead>
            <tbody>
              {models.data.map(({ id, value }) => (
                <ModelRow key={id} model={value} />
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
    </section>
  );
}

function ModelRow({ model }: { model: Model }) {
  return (
    <tr>
      <th scope="row" className="row-name">
        <Link to={`/models/${encodeURIComponent(model.id)}`}>{model.displayName}</Link> {model.retirement !== undefined && <Badge tone="warn">retires {new Date(model.retirement.at).toLocaleDateString('en-GB', { dateStyle: 'medium' })}</Badge>}
        <span className="muted small block">{model.id}</span>
      </th>
      <td>{model.abilities.join(', ')}</td>
      <td className="num">{formatCount(model.contextTokens)}</td>
      <td className="num">{formatCount(model.maxOutputTokens)}</td>
      <td>
        <ul className="list tight num-left">
          {model.offers.map((offer) => (
            <li key={`${offer.provider} ${offer.providerModel}`}>
              <Link to={`/providers/${encodeURIComponent(offer.provider)}`}>{offer.provider}</Link>{' '}
              {offer.price === undefined ? <span className="muted">price not known</span> : `${formatPerMillion(offer.price.inputPicoUsd)} / ${formatPerMillion(offer.price.outputPicoUsd)}`}
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}
