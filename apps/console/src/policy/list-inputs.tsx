import { useState } from 'react';
import type { CustomerPolicy } from '@sluice/contracts';

interface Marks {
  readonly 'aria-invalid': true | undefined;
  readonly 'aria-describedby': string | undefined;
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

/** Names with commas or spaces between them. */
export function NamesInput({
  title,
  placeholder,
  value,
  onChange,
  marks,
}: {
  title: string;
  placeholder: string;
  value: readonly string[];
  onChange: (value: string[]) => void;
  marks: Marks;
}) {
  const [text, setText] = useState(value.join(', '));
  const shown = words(text).join(' ') === value.join(' ') ? text : value.join(', ');
  return (
    <input
      aria-label={title}
      {...marks}
      value={shown}
      placeholder={placeholder}
      onChange={(event) => {
        setText(event.target.value);
        onChange(words(event.target.value));
      }}
    />
  );
}

type Chain = CustomerPolicy['routing']['chain'];

/** Providers in order; each may use another model. */
export function ChainInput({ value, onChange }: { value: Chain; onChange: (value: Chain) => void }) {
  const set = (index: number, change: { provider?: string; model?: string }): void =>
    onChange(
      value.map((entry, at) => {
        if (at !== index) return entry;
        const { model, ...rest } = { ...entry, ...change };
        return model === undefined || model === '' ? rest : { ...rest, model };
      }),
    );
  const move = (index: number): void =>
    onChange(
      value.map((entry, at) =>
        at === index - 1 ? (value[index] ?? entry) : at === index ? (value[index - 1] ?? entry) : entry,
      ),
    );
  return (
    <ol className="rows">
      {value.map((entry, index) => (
        <li key={index} className="row">
          <input
            aria-label={`Provider ${index + 1}`}
            value={entry.provider}
            onChange={(e) => set(index, { provider: e.target.value })}
          />
          <input
            aria-label={`Model at provider ${index + 1}; as asked for when empty`}
            placeholder="model as asked for"
            value={entry.model ?? ''}
            onChange={(e) => set(index, { model: e.target.value })}
          />
          {index > 0 && (
            <button type="button" aria-label={`Move provider ${index + 1} up`} onClick={() => move(index)}>
              Up
            </button>
          )}
          {value.length > 1 && (
            <button
              type="button"
              aria-label={`Take provider ${index + 1} out`}
              onClick={() => onChange(value.filter((_, at) => at !== index))}
            >
              Remove
            </button>
          )}
        </li>
      ))}
      {value.length < 8 && (
        <li>
          <button type="button" onClick={() => onChange([...value, { provider: '' }])}>
            Add a provider
          </button>
        </li>
      )}
    </ol>
  );
}

/** Pairs kept as rows while they are typed, so that two empty or equal names can stand side by side for a moment. */
function usePairs<V>(
  value: Readonly<Record<string, V>>,
  onChange: (value: Record<string, V>) => void,
): [readonly (readonly [string, V])[], (rows: readonly (readonly [string, V])[]) => void] {
  const [rows, setRows] = useState<readonly (readonly [string, V])[]>(() => Object.entries(value));
  const same = JSON.stringify(Object.fromEntries(rows.filter(([name]) => name !== ''))) === JSON.stringify(value);
  return [
    same ? rows : Object.entries(value),
    (next) => {
      setRows(next);
      onChange(Object.fromEntries(next.filter(([name]) => name !== '')));
    },
  ];
}

export function AliasesInput({
  value,
  onChange,
}: {
  value: Readonly<Record<string, string>>;
  onChange: (value: Record<string, string>) => void;
}) {
  const [rows, setRows] = usePairs(value, onChange);
  return (
    <ul className="rows">
      {rows.map(([name, model], index) => (
        <li key={index} className="row">
          <input
            aria-label={`Name ${index + 1}`}
            placeholder="name"
            value={name}
            onChange={(e) => setRows(rows.with(index, [e.target.value, model]))}
          />
          <span aria-hidden="true">→</span>
          <input
            aria-label={`Model of name ${index + 1}`}
            placeholder="model"
            value={model}
            onChange={(e) => setRows(rows.with(index, [name, e.target.value]))}
          />
          <button
            type="button"
            aria-label={`Remove name ${index + 1}`}
            onClick={() => setRows(rows.filter((_, at) => at !== index))}
          >
            Remove
          </button>
        </li>
      ))}
      <li>
        <button type="button" onClick={() => setRows([...rows, ['', '']])}>
          Add a name
        </button>
      </li>
    </ul>
  );
}

type Features = CustomerPolicy['routing']['features'];

export function FeaturesInput({ value, onChange }: { value: Features; onChange: (value: Features) => void }) {
  const [rows, setRows] = usePairs<Features[string]>(value, onChange);
  const set = (index: number, name: string, model: string | undefined, priority: string | undefined): void =>
    setRows(
      rows.with(index, [
        name,
        {
          ...(model ? { model } : {}),
          ...(priority ? { priority: priority as NonNullable<Features[string]['priority']> } : {}),
        },
      ]),
    );
  return (
    <ul className="rows">
      {rows.map(([name, { model, priority }], index) => (
        <li key={index} className="row">
          <input
            aria-label={`Feature ${index + 1}`}
            placeholder="feature"
            value={name}
            onChange={(e) => set(index, e.target.value, model, priority)}
          />
          <input
            aria-label={`Model of feature ${index + 1}; as asked for when empty`}
            placeholder="model as asked for"
            value={model ?? ''}
            onChange={(e) => set(index, name, e.target.value, priority)}
          />
          <select
            aria-label={`Priority of feature ${index + 1}`}
            value={priority ?? ''}
            onChange={(e) => set(index, name, model, e.target.value)}
          >
            <option value="">usual priority</option>
            {['critical', 'high', 'standard', 'low'].map((level) => (
              <option key={level}>{level}</option>
            ))}
          </select>
          <button
            type="button"
            aria-label={`Remove feature ${index + 1}`}
            onClick={() => setRows(rows.filter((_, at) => at !== index))}
          >
            Remove
          </button>
        </li>
      ))}
      <li>
        <button type="button" onClick={() => setRows([...rows, ['', {}]])}>
          Add a feature
        </button>
      </li>
    </ul>
  );
}
