import { useId } from 'react';
import type { Policy } from '@sluice/contracts';
import { NumberInput } from './document-fields.tsx';
import { valueAt, withValue, type Path } from './document-paths.ts';

const FIELDS: readonly { label: string; path: Path }[] = [
  { label: 'requests per second', path: ['limits', 'requests', 'perSecond'] },
  { label: 'burst, requests', path: ['limits', 'requests', 'burst'] },
  { label: 'in flight', path: ['limits', 'concurrency', 'inFlight'] },
  { label: 'of which queued', path: ['limits', 'concurrency', 'queued'] },
  { label: 'tokens per minute', path: ['limits', 'tokens', 'perMinute'] },
  { label: 'percent of a pool', path: ['maxPoolSharePercent'] },
];

/** The limits that are changed most often. An empty field is the plan's. */
export function LimitFields({
  document,
  effective,
  change,
}: {
  document: unknown;
  effective: Policy;
  change: (next: unknown) => void;
}) {
  const id = useId();
  return (
    <fieldset className="limit-fields">
      <legend className="muted">Limits of this workspace; an empty field is the plan's</legend>
      {FIELDS.map(({ label, path }) => {
        const own = valueAt(document, path);
        const inherited = valueAt(effective, path);
        const field = `${id}-${path.join('.')}`;
        return (
          <label key={field} htmlFor={field}>
            {label}
            <NumberInput
              id={field}
              value={own}
              placeholder={typeof inherited === 'number' ? `plan: ${inherited.toLocaleString('en-US')}` : 'no limit'}
              onChange={(value) => change(withValue(document, path, String(value ?? ''), effective))}
            />
          </label>
        );
      })}
    </fieldset>
  );
}
