import { useState, type FormEvent } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Outcome } from '@sluice/contracts';
import { consoleApi, type RequestFilters } from '../api/console-api.ts';
import { navigate, setSearch, urlOf } from '../routing/location.ts';
import { OUTCOME_WORDS } from './outcome-words.ts';

const TEXT_FILTERS = ['model', 'feature', 'key', 'outcome'] as const;
const OUTCOMES = Object.entries(OUTCOME_WORDS) as [Outcome, (typeof OUTCOME_WORDS)[Outcome]][];

/** The filters that the address names. Days are those of UTC, both included. */
export function filtersOf(search: URLSearchParams): RequestFilters {
  const given = Object.fromEntries(
    TEXT_FILTERS.flatMap((name) => (search.get(name) ? [[name, search.get(name)]] : [])),
  ) as RequestFilters;
  const first = dayMs(search.get('first'));
  const last = dayMs(search.get('last'));
  return {
    ...given,
    ...(first === undefined ? {} : { from: new Date(first).toISOString() }),
    ...(last === undefined ? {} : { to: new Date(last + 86_400_000).toISOString() }),
  };
}

function dayMs(day: string | null): number | undefined {
  const ms = Date.parse(`${day}T00:00:00.000Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Search and filters; they stand in the address, so that a view can be sent to a colleague. */
export function RequestFilterBar({ slug, search }: { slug: string; search: URLSearchParams }) {
  const [values, setValues] = useState(() =>
    Object.fromEntries([...TEXT_FILTERS, 'first', 'last'].map((name) => [name, search.get(name) ?? ''])),
  );
  const [id, setId] = useState('');
  const models = useQuery({ queryKey: ['models', slug], queryFn: () => consoleApi.models(slug), staleTime: 300_000 });
  const set = (name: string) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value });
  const any = Object.values(values).some((value) => value !== '');

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (id.trim() !== '') navigate(urlOf(slug, 'requests', id.trim()));
    else setSearch(values);
  }

  return (
    <form className="filters" role="search" aria-label="Requests" onSubmit={submit}>
      <label className="search">
        Request id
        <input type="search" value={id} placeholder="req_…" onChange={(e) => setId(e.target.value)} />
      </label>
      <label>
        What became of it
        <select
          value={values['outcome']}
          onChange={(e) => {
            set('outcome')(e);
            setSearch({ ...values, outcome: e.target.value });
          }}
        >
          <option value="">all</option>
          {OUTCOMES.map(([outcome, { word }]) => (
            <option key={outcome} value={outcome}>
              {word}
            </option>
          ))}
        </select>
      </label>
      <label>
        Model
        <input list="models" value={values['model']} onChange={set('model')} />
      </label>
      <datalist id="models">
        {models.data?.rows.map((model) => (
          <option key={model.id} value={model.id}>
            {model.name}
          </option>
        ))}
      </datalist>
      <label>
        Feature
        <input value={values['feature']} onChange={set('feature')} />
      </label>
      <label>
        Key id
        <input value={values['key']} onChange={set('key')} />
      </label>
      <label>
        From (UTC)
        <input type="date" value={values['first']} onChange={set('first')} />
      </label>
      <label>
        To
        <input type="date" value={values['last']} onChange={set('last')} />
      </label>
      <button className="primary">Search</button>
      {any && (
        <button type="button" className="quiet" onClick={() => navigate(urlOf(slug, 'requests'))}>
          Clear
        </button>
      )}
    </form>
  );
}
