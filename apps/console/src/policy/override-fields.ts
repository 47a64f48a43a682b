import type { CustomerOverride, CustomerPolicy } from '@sluice/contracts';
import type { Fields } from './merge-edits.ts';
import { FIELD_PATHS } from './policy-fields.ts';

/** What stands at a path of at most two parts; undefined where there is nothing. */
export function valueAt(source: CustomerOverride | CustomerPolicy, path: string): unknown {
  const [first = '', second] = path.split('.');
  const outer = (source as Readonly<Record<string, unknown>>)[first];
  if (second === undefined) return outer;
  return typeof outer === 'object' && outer !== null ? (outer as Readonly<Record<string, unknown>>)[second] : undefined;
}

/** An override by path, of those paths that `chosen` names. */
export function fieldsOf(override: CustomerOverride, chosen: ReadonlySet<string>): Fields {
  return Object.fromEntries(
    FIELD_PATHS.filter((path) => chosen.has(path)).flatMap((path) =>
      valueAt(override, path) === undefined ? [] : [[path, valueAt(override, path)]],
    ),
  );
}

/** The override that fields by path make up. */
export function overrideFrom(fields: Fields): CustomerOverride {
  const override: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const [first = '', second] = path.split('.');
    if (second === undefined) override[first] = value;
    else override[first] = { ...(override[first] as object | undefined), [second]: value };
  }
  return override as CustomerOverride;
}
