import { isDeepStrictEqual } from 'node:util';

/** One field that differs: absent `before` or `after` means that it is not there. */
export interface FieldChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const MAX_FIELDS = 50;

/**
 * Where two values differ, by path (`policy.limits.requests.burst`); objects are compared field by field, lists as
 * wholes.
 */
export function diffValues(before: unknown, after: unknown): FieldChange[] {
  const found: FieldChange[] = [];
  walk(before, after, [], found);
  return found.slice(0, MAX_FIELDS);
}

function walk(before: unknown, after: unknown, path: readonly string[], found: FieldChange[]): void {
  if (isDeepStrictEqual(before, after)) return;
  if (isPlain(before) && isPlain(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      walk(before[name], after[name], [...path, name], found);
    return;
  }
  found.push({
    path: path.join('.'),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  });
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
