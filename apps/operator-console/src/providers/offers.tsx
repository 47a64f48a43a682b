import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Model } from '@sluice/contracts';
import { formatPerMillion } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { DocumentForm } from '../edit/document-form.tsx';
import { ListPanel } from '../edit/list-panel.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';

const PER_MILLION = 1e6;
const placeOf = (provider: string, { offers }: Model): number =>
  offers.findIndex((offer) => offer.provider === provider);

/** Models that a provider has, and what we pay there: each is a part of the model, under the model's version. */
export function Offers({ api, provider }: { api: OperatorApi; provider: string }) {
  const models = useQuery({ queryKey: ['models'], queryFn: () => api.tables.list('models'), staleTime: 0 });
  const [open, setOpen] = useState<Row<Model>>();
  const refusal = useRefusal('admin');
  const drop = useMutation({
    mutationFn: ({ id, value, version }: Row<Model>) =>
      api.tables.put(
        'models',
        id,
        { ...value, offers: value.offers.filter((offer) => offer.provider !== provider) },
        version,
      ),
    onSettled: () => void models.refetch(),
  });
  const has = (models.data ?? []).filter(({ value }) => placeOf(provider, value) >= 0);
  const others = (models.data ?? []).filter(({ value }) => placeOf(provider, value) < 0);
  const priceOf = (kind: 'inputPicoUsd' | 'outputPicoUsd', { value }: Row<Model>) => {
    const price = value.offers[placeOf(provider, value)]?.price?.[kind];
    return price === undefined ? <span className="muted">not known</span> : formatPerMillion(price);
  };
  return (
    <ListPanel<Row<Model>>
      id="offers"
      title="Models it has, and what we pay"
      button={
        others.length > 0 && (
          <select
            value=""
            aria-label="Add a model"
            disabled={refusal !== undefined || open !== undefined}
            title={refusal}
            onChange={(event) => setOpen(others.find(({ id }) => id === event.target.value))}
          >
            <option value="">Add a model…</option>
            {others.map(({ id, value }) => (
              <option key={id} value={id}>
                {value.displayName}
              </option>
            ))}
          </select>
        )
      }
      problem={models.error ?? drop.error}
      rows={models.data === undefined ? undefined : has}
      keyOf={({ id }) => id}
      empty={
        others.length > 0 ? (
          'It has no model yet, so nothing is asked of it. Add one above.'
        ) : (
          <>
            There is no model that it could have. <Link to="/models">Make one</Link> that names it.
          </>
        )
      }
      columns={[
        {
          head: 'model',
          cell: ({ id, value }) => <Link to={`/models/${encodeURIComponent(id)}`}>{value.displayName}</Link>,
        },
        {
          head: 'its name there',
          cell: ({ value }) => <code className="nowrap">{value.offers[placeOf(provider, value)]?.providerModel}</code>,
        },
        { head: 'input, a million', figures: 'right', cell: (row) => priceOf('inputPicoUsd', row) },
        { head: 'output, a million', figures: 'right', cell: (row) => priceOf('outputPicoUsd', row) },
      ]}
      actions={(row) => (
        <>
          <button
            type="button"
            disabled={refusal !== undefined || open !== undefined}
            title={refusal}
            aria-label={`Change ${row.value.displayName}`}
            onClick={() => setOpen(row)}
          >
            Change
          </button>
          <SureButton
            verb="Remove"
            name={row.value.displayName}
            refusal={
              refusal ??
              (row.value.offers.length === 1 ? 'Nobody else has this model. Delete the model instead.' : undefined)
            }
            disabled={drop.isPending}
            onSure={() => drop.mutate(row)}
          />
        </>
      )}
    >
      {open !== undefined && (
        <OfferForm
          key={open.id}
          api={api}
          provider={provider}
          row={open}
          onDone={() => {
            setOpen(undefined);
            void models.refetch();
          }}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </ListPanel>
  );
}

function OfferForm({
  api,
  provider,
  row,
  onDone,
  onCancel,
}: {
  api: OperatorApi;
  provider: string;
  row: Row<Model>;
  onDone: () => void;
  onCancel: () => void;
}) {
  const offered = ({ value, version }: Row<Model>) => ({
    value:
      placeOf(provider, value) >= 0
        ? value
        : { ...value, offers: [...value.offers, { provider, providerModel: value.id }] },
    version,
  });
  const groups = (document: unknown) => {
    const at = ['offers', String(Math.max(0, placeOf(provider, document as Model)))];
    return [
      {
        legend: `${row.value.displayName} at ${provider}; prices in dollars for a million tokens`,
        fields: [
          { label: 'Its name there', path: [...at, 'providerModel'], required: true, hint: 'Sent byte for byte.' },
          { label: 'Input', path: [...at, 'price', 'inputPicoUsd'], scale: PER_MILLION, placeholder: 'not known' },
          { label: 'Output', path: [...at, 'price', 'outputPicoUsd'], scale: PER_MILLION, placeholder: 'not known' },
          {
            label: 'Input from the cache',
            path: [...at, 'price', 'cacheReadPicoUsd'],
            scale: PER_MILLION,
            placeholder: 'as input',
          },
          {
            label: 'Input to the cache',
            path: [...at, 'price', 'cacheWritePicoUsd'],
            scale: PER_MILLION,
            placeholder: 'as input',
          },
          {
            label: 'Input to the cache for an hour',
            path: [...at, 'price', 'cacheWrite1hPicoUsd'],
            scale: PER_MILLION,
            placeholder: 'not known',
          },
          {
            label: 'Reasoning',
            path: [...at, 'price', 'reasoningPicoUsd'],
            scale: PER_MILLION,
            placeholder: 'as output',
          },
          { label: 'Audio', path: [...at, 'price', 'audioPicoUsd'], scale: PER_MILLION, placeholder: 'as output' },
        ],
      },
    ];
  };
  return (
    <DocumentForm<Model>
      label={`${row.value.displayName} at ${provider}`}
      row={offered(row)}
      groups={groups}
      save={(document, version) =>
        api.tables.put('models', row.id, withoutEmptyPrice(document as Model, provider), version)
      }
      reload={async () => offered(await api.tables.get('models', row.id))}
      onDone={onDone}
      onCancel={onCancel}
      verb="Save"
      taken={() => ''}
    />
  );
}

/** A price of which every field was emptied is not known. */
function withoutEmptyPrice(model: Model, provider: string): Model {
  return {
    ...model,
    offers: model.offers.map(({ price, ...offer }) =>
      offer.provider === provider && Object.keys(price ?? {}).length === 0
        ? offer
        : { ...offer, ...(price === undefined ? {} : { price }) },
    ),
  };
}
