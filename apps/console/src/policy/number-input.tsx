import { useState } from 'react';

export interface NumberInputProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
  readonly unit?: string;
  readonly id?: string;
  readonly invalid?: boolean | undefined;
  readonly describedBy?: string | undefined;
}

/** A number as the person typed it, so that `1.` or nothing at all stays what it is while it is typed. */
export function NumberInput({ label, value, onChange, unit, id, invalid, describedBy }: NumberInputProps) {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const shown = parse(text) === value ? text : value === undefined ? '' : String(value);
  return (
    <span className="with-unit">
      <input
        {...(id === undefined ? { 'aria-label': label } : { id })}
        inputMode="decimal"
        value={shown}
        aria-invalid={invalid || undefined}
        aria-describedby={describedBy}
        onChange={(event) => {
          setText(event.target.value);
          onChange(parse(event.target.value));
        }}
      />
      {unit !== undefined && <span>{unit}</span>}
    </span>
  );
}

/** Undefined for nothing and for what is no number. */
function parse(text: string): number | undefined {
  const cleaned = text.trim().replaceAll(',', '');
  return cleaned === '' || !/^\d+(\.\d*)?$/.test(cleaned) ? undefined : Number(cleaned);
}
