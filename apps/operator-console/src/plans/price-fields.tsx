import { useQuery } from '@tanstack/react-query';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Prices } from '../api/table-api.ts';
import { setAt } from '../edit/document-paths.ts';
import { NumberInput } from '../edit/document-fields.tsx';
import { ScrollX } from '@sluice/ui';
import { MorePrice } from './more-price.tsx';

const CLASSES = [
  { field: 'inputPicoUsd', word: 'input' },
  { field: 'outputPicoUsd', word: 'output' },
  { field: 'cacheReadPicoUsd', word: 'from the cache' },
  { field: 'cacheWritePicoUsd', word: 'to the cache' },
  { field: 'cacheWrite1hPicoUsd', word: 'to the cache for an hour' },
  { field: 'reasoningPicoUsd', word: 'reasoning' },
  { field: 'audioPicoUsd', word: 'audio' },
  { field: 'audioInputPicoUsd', word: 'audio heard' },
  { field: 'imageInputPicoUsd', word: 'images seen' },
  { field: 'imageOutputPicoUsd', word: 'images made' },
] as const;
const PER_MILLION = 1e6;

/**
 * Prices by model in dollars for a million tokens; a model without a price is not billed, and by most policies
 * refused.
 */
export function PriceFields({
  api,
  document,
  change,
}: {
  api: OperatorApi;
  document: unknown;
  change: (next: unknown) => void;
}) {
  const prices = (document ?? {}) as Prices;
  const models = useQuery({ queryKey: ['models'], queryFn: () => api.tables.list('models') });
  const without = (models.data ?? []).filter(({ id }) => !Object.hasOwn(prices, id));
  return (
    <>
      <ScrollX label="Prices by model">
        <table className="price-table">
          <caption className="muted small">
            Dollars for a million tokens. An empty price is that of input or output; what is kept for an hour, audio,
            and images made are refused without one. Tiers, long inputs and tools are in the catalogue's own units.
          </caption>
          <thead>
            <tr>
              <th scope="col">model</th>
              {CLASSES.map(({ field, word }) => (
                <th key={field} scope="col">
                  {word}
                </th>
              ))}
              <th scope="col">tiers, long inputs, tools</th>
              <th scope="col">
                <span className="visually-hidden">what can be done</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(prices).map(([id, price]) => (
              <tr key={id}>
                <th scope="row" className="row-name">
                  {id}
                </th>
                {CLASSES.map(({ field, word }) => (
                  <td key={field}>
                    <NumberInput
                      label={`${id}, ${word}`}
                      value={price[field]}
                      scale={PER_MILLION}
                      onChange={(value) => change(setAt(prices, [id, field], value))}
                    />
                  </td>
                ))}
                <td>
                  <MorePrice
                    label={`${id}, tiers, long inputs and tools`}
                    price={price}
                    onChange={(next) => change(setAt(prices, [id], next))}
                  />
                </td>
                <td>
                  <button
                    type="button"
                    className="quiet"
                    aria-label={`Remove the price of ${id}`}
                    onClick={() => change(setAt(prices, [id], undefined))}
                  >
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollX>
      {without.length > 0 && (
        <label className="inline">
          <span className="muted">Without a price</span>
          <select
            value=""
            onChange={(event) => change(setAt(prices, [event.target.value], { inputPicoUsd: 0, outputPicoUsd: 0 }))}
          >
            <option value="">choose a model to add…</option>
            {without.map(({ id, value }) => (
              <option key={id} value={id}>
                {value.displayName}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}
