import { useState, type FormEvent } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { NewKeyRequest, NewKeyView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Field, FormFault } from '../parts/field.tsx';

/** Days until a new key expires; empty for never. */
const LIFETIMES = [
  ['', 'never'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
] as const;
const DAY_MS = 86_400_000;

/** Comma or white space separated words; undefined when there is none. */
export function listOf(text: string): string[] | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  return words.length === 0 ? undefined : words;
}

/** Name, expiry, and what the key may do. */
export function NewKeyForm({ slug, onMade }: { slug: string; onMade: (view: NewKeyView) => void }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [models, setModels] = useState('');
  const [addresses, setAddresses] = useState('');
  const offered = useQuery({ queryKey: ['models', slug], queryFn: () => consoleApi.models(slug), staleTime: 300_000 });
  const make = useMutation({
    mutationFn: (request: NewKeyRequest) => consoleApi.createKey(slug, request),
    onSuccess: (view) => {
      setName('');
      setModels('');
      setAddresses('');
      onMade(view);
    },
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    const allowModels = listOf(models);
    const allowAddresses = listOf(addresses);
    make.mutate({
      name,
      ...(days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
      ...(allowModels === undefined ? {} : { allow_models: allowModels }),
      ...(allowAddresses === undefined ? {} : { allow_addresses: allowAddresses }),
    });
  }

  return (
    <form className="stack" onSubmit={submit}>
      <div className="fields">
        <Field label="Name" error={make.error} path="name">
          {(props) => (
            <input
              {...props}
              required
              maxLength={100}
              value={name}
              placeholder="production backend"
              onChange={(e) => setName(e.target.value)}
            />
          )}
        </Field>
        <Field label="Expires" error={make.error} path="expires_at">
          {(props) => (
            <select {...props} value={days} onChange={(e) => setDays(e.target.value)}>
              {LIFETIMES.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Models" hint="All when empty; several with commas." error={make.error} path="allow_models">
          {(props) => (
            <input
              {...props}
              value={models}
              placeholder={
                offered.data?.rows
                  .slice(0, 2)
                  .map(({ id }) => id)
                  .join(', ') ?? ''
              }
              onChange={(e) => setModels(e.target.value)}
            />
          )}
        </Field>
        <Field
          label="From addresses"
          hint="From everywhere when empty. Ranges such as 203.0.113.0/24."
          error={make.error}
          path="allow_addresses"
        >
          {(props) => <input {...props} value={addresses} onChange={(e) => setAddresses(e.target.value)} />}
        </Field>
      </div>
      <FormFault error={make.error} paths={['name', 'expires_at', 'allow_models', 'allow_addresses']} />
      <div className="actions">
        <button className="primary" disabled={make.isPending}>
          {make.isPending ? 'Making …' : 'Make key'}
        </button>
      </div>
    </form>
  );
}
