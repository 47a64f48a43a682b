import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Model, OperatorState } from '@sluice/contracts';
import { Badge, formatCount, formatPerMillion } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { NewDocument } from '../edit/new-document.tsx';
import { go, Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';

/** The catalogue: what customers may ask for, who has it, and what it costs us there. */
export function ModelsPage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const models = useQuery({ queryKey: ['models'], queryFn: () => api.tables.list('models'), staleTime: 0 });
  const [making, setMaking] = useState(false);
  const refusal = useRefusal('admin');
  return (
    <ListPanel
      id="models"
      title="Models"
      hint="the catalogue: what customers may ask for, who has it, and what we pay there for a million tokens"
      button={
        <button
          type="button"
          disabled={refusal !== undefined || models.data === undefined || making}
          title={refusal}
          onClick={() => setMaking(true)}
        >
          New model
        </button>
      }
      problem={models.error}
      rows={models.data}
      keyOf={({ id }) => id}
      empty={
        <>
          The catalogue is empty. A model needs a provider that has it: <Link to="/providers">add one</Link> first, then
          “New model”.
        </>
      }
      columns={[
        {
          head: 'model',
          cell: ({ value }) => (
            <>
              <Link to={`/models/${encodeURIComponent(value.id)}`}>{value.displayName}</Link>{' '}
              {value.retirement !== undefined && (
                <Badge tone="warn">
                  retires {new Date(value.retirement.at).toLocaleDateString('en-GB', { dateStyle: 'medium' })}
                </Badge>
              )}
              <span className="muted small block">{value.id}</span>
            </>
          ),
        },
        { head: 'can', cell: ({ value }) => value.abilities.join(', ') },
        { head: 'context, tokens', figures: 'right', cell: ({ value }) => formatCount(value.contextTokens) },
        { head: 'longest answer', figures: 'right', cell: ({ value }) => formatCount(value.maxOutputTokens) },
        { head: 'providers, and our price of input / output', cell: ({ value }) => <Offers offers={value.offers} /> },
      ]}
    >
      {making && models.data !== undefined && (
        <NewDocument
          noun="model"
          like={{
            ...Object.fromEntries(models.data.map(({ id, value: { id: _own, ...rest } }) => [id, rest])),
            [EMPTY]: newModel(picture.providers[0]?.provider),
          }}
          save={(id, value) => api.tables.put('models', id, value, 'new')}
          onMade={(id) => go(`/models/${encodeURIComponent(id)}`)}
          onCancel={() => setMaking(false)}
        />
      )}
    </ListPanel>
  );
}

/** What a model is made of where there is none to copy. */
const EMPTY = 'an empty one';
const newModel = (provider = 'name of a provider') => ({
  displayName: 'New model',
  contextTokens: 128_000,
  maxOutputTokens: 16_000,
  abilities: ['chat'],
  tier: 0,
  offers: [{ provider, providerModel: 'its name there', price: { inputPicoUsd: 1_000_000, outputPicoUsd: 4_000_000 } }],
});

function Offers({ offers }: Pick<Model, 'offers'>) {
  return (
    <ul className="list tight num-left">
      {offers.map(({ provider, providerModel, price }) => (
        <li key={`${provider} ${providerModel}`}>
          <Link to={`/providers/${encodeURIComponent(provider)}`}>{provider}</Link>{' '}
          {price === undefined ? (
            <span className="muted">price not known</span>
          ) : (
            `${formatPerMillion(price.inputPicoUsd)} / ${formatPerMillion(price.outputPicoUsd)}`
          )}
        </li>
      ))}
    </ul>
  );
}
