import { useId } from 'react';
import type { Policy } from '@sluice/contracts';
import { NumberInput } from './document-fields.tsx';

type Path = readonly [string, ...string[]];

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

/** What stands at a path of a document; places in a list are told by their number. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    document,
  );
}

/**
 * The document with a number at a path, or without it where the text is empty. A limit is replaced as a whole, so the
 * first own value of a limit brings the plan's other values of it along.
 */
export function withValue(document: unknown, path: Path, text: string, effective: unknown): unknown {
  const trimmed = text.trim();
  const number = Number(trimmed);
  const [name, ...rest] = path;
  const own = isObject(document) ? document : {};
  const plan = isObject(effective) ? effective[name] : undefined;
  if (rest.length === 0) {
    const next = { ...own };
    if (trimmed === '') delete next[name];
    else next[name] = Number.isFinite(number) ? number : trimmed;
    return next;
  }
  const bringAlong = rest.length === 1 && own[name] === undefined && trimmed !== '' && isObject(plan);
  const inner = withValue(bringAlong ? { ...plan } : own[name], rest as unknown as Path, text, plan);
  const next: Record<string, unknown> = { ...own, [name]: inner };
  if (isObject(inner) && (Object.keys(inner).length === 0 || (rest.length === 1 && trimmed === ''))) delete next[name];
  return next;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
