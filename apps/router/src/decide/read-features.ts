import type { FieldFault } from '@sluice/service-kit';

/** Raw features by name in the order of the extractor, or what is wrong with each. */
export function readFeatures(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
): { readonly features: number[] } | { readonly errors: FieldFault[] } {
  const errors: FieldFault[] = [];
  const features = names.map((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    errors.push({
      path: `features.${name}`,
      message:
        value === undefined ? 'is missing' : `must be a finite number, not ${JSON.stringify(value).slice(0, 50)}`,
    });
    return 0;
  });
  for (const name of Object.keys(given))
    if (!names.includes(name))
      errors.push({ path: `features.${name.slice(0, 64)}`, message: 'is not a feature of the policy' });
  return errors.length === 0 ? { features } : { errors };
}
