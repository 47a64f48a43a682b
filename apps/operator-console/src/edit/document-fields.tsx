import { useState, type InputHTMLAttributes, type ReactNode } from 'react';
import { setAt, valueAt } from './document-paths.ts';

/** A field of a document for a text, or for a number in the unit that people think in. */
export interface DocumentField {
  readonly label: string;
  readonly path: readonly string[];
  /** How many of the document's units one of the shown unit has; a text when absent. */
  readonly scale?: number;
}

/** Fields for parts of a document. An empty one takes its part out of the document. */
export function DocumentFields({
  legend,
  fields,
  document,
  change,
  children,
}: {
  legend: string;
  fields: readonly DocumentField[];
  document: unknown;
  change: (next: unknown) => void;
  children?: ReactNode;
}) {
  return (
    <fieldset className="limit-fields">
      <legend className="muted">{legend}</legend>
      {fields.map(({ label, path, scale }) => (
        <label key={path.join('.')}>
          {label}
          {scale === undefined ? (
            <input
              value={String(valueAt(document, path) ?? '')}
              onChange={(event) =>
                change(setAt(document, path, event.target.value === '' ? undefined : event.target.value))
              }
            />
          ) : (
            <NumberInput
              value={valueAt(document, path)}
              scale={scale}
              onChange={(value) => change(setAt(document, path, value))}
            />
          )}
        </label>
      ))}
      {children}
    </fieldset>
  );
}

/**
 * A number that is typed: what is typed stays as it is while it means the same, so that `0.` can become `0.5`. What
 * is no number is passed on, to be refused by name.
 */
export function NumberInput({
  value,
  scale = 1,
  label,
  onChange,
  ...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> & {
  value: unknown;
  scale?: number;
  label?: string;
  onChange: (value: number | string | undefined) => void;
}) {
  const [typed, setTyped] = useState('');
  const shown =
    numberOf(typed, scale) === value
      ? typed
      : typeof value === 'number'
        ? String(value / scale)
        : value === undefined
          ? ''
          : String(value);
  return (
    <input
      {...rest}
      inputMode="decimal"
      aria-label={label}
      value={shown}
      onChange={(event) => {
        setTyped(event.target.value);
        onChange(numberOf(event.target.value, scale));
      }}
    />
  );
}

function numberOf(text: string, scale: number): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) ? Number((number * scale).toPrecision(15)) : trimmed;
}
