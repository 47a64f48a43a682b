import { useState, type FormEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { NewKeyRequest, NewKeyView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';

/** Days until a new key expires; empty for never. */
const LIFETIMES = [['', 'never'], ['30', 'in 30 days'], ['90', 'in 90 days'], ['365', 'in a year']] as const;
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
    <form className="fields" onSubmit={submit}>
      <label>
        Name
        <input required maxLength={100} value={name} placeholder="ci, production backend …" onChange={(e) => setName(e.target.value)} />
      </label>
      <label>
        Expires
        <select value={days} onChange={(e) => setDays(e.target.value)}>
          {LIFETIMES.map(([value, title]) => (
            <option key={value} value={value}>{title}</option>
          ))}
        </select>
      </label>
      <label>
        <span>Models <span className="muted">(all when empty)</span></span>
        <input value={models} placeholder="sim-small, sim-medium" onChange={(e) => setModels(e.target.value)} />
      </label>
      <label>
        <span>From addresses <span className="muted">(any when empty)</span></span>
        <input value={addresses} placeholder="203.0.113.0/24" onChange={(e) => setAddresses(e.target.value)} />
      </label>
      <button className="primary" disabled={make.isPending}>{make.isPending ? 'Making …' : 'Make key'}</button>
      {make.isError && <p className="notice bad" role="alert">{make.error.message}</p>}
    </form>
  );
}
