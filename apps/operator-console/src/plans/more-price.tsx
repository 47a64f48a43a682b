import { useState } from 'react';
import type { Price } from '@sluice/contracts';

/** What of a price is no single figure. */
const PARTS = ['serviceTiers', 'longContext', 'toolNanoUsd'] as const;
type Parts = Partial<Pick<Price, (typeof PARTS)[number]>>;

/**
 * Service tiers, long inputs and tools of a price, as the JSON of the catalogue. Text that is no JSON object stays as it
 * is typed and changes nothing; whether the rest holds is said when it is saved.
 */
export function MorePrice({
  label,
  price,
  onChange,
}: {
  label: string;
  price: Price;
  onChange: (price: Price) => void;
}) {
  const stored = partsOf(price);
  const [typed, setTyped] = useState<string>();
  const text = typed ?? (Object.keys(stored).length === 0 ? '' : JSON.stringify(stored, null, 2));
  const wrong = typed !== undefined && parse(typed) === undefined;
  return (
    <details>
      <summary>{Object.keys(stored).length === 0 ? 'none' : Object.keys(stored).join(', ')}</summary>
      <textarea
        aria-label={label}
        aria-invalid={wrong}
        rows={8}
        cols={40}
        spellCheck={false}
        placeholder={'{ "toolNanoUsd": { "web_search": 10000000 } }'}
        value={text}
        onChange={({ target }) => {
          setTyped(target.value);
          const parts = parse(target.value);
          if (parts !== undefined) onChange({ ...withoutParts(price), ...parts });
        }}
      />
      {wrong && <p role="alert">This is not a JSON object; the price is still what it was.</p>}
    </details>
  );
}

function partsOf(price: Price): Parts {
  return Object.fromEntries(PARTS.filter((name) => price[name] !== undefined).map((name) => [name, price[name]]));
}

function withoutParts({ serviceTiers: _tiers, longContext: _long, toolNanoUsd: _tools, ...rest }: Price): Price {
  return rest;
}

/** The parts that a text says; undefined when it is no JSON object. */
function parse(text: string): Parts | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
