import { alternatives, resolve, type JsonSchema } from './json-schema.ts';

const DEPTH = 8;
/** Texts to try, by what they are the example of; the first one that the pattern and the length allow is taken. */
const TEXTS = [
  'acme-prod',
  'team',
  '2026-03',
  '2026-03-01',
  'nqOLCy0rGMNW',
  'req_01KA2B3C4D5E6F7G8H9JKMNPQR',
  'SLUICE_SECRET_MAIN',
  'ada@acme.example',
  'Europe/Berlin',
  'https://api.example.com/v1',
  'calls go on at noon',
  '0'.repeat(64),
  'c2VjcmV0',
  '203.0.113.0/24',
  '1',
  'a',
  'x'.repeat(24),
  'x'.repeat(44),
];
const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-03-01T12:00:00.000Z',
  date: '2026-03-01',
  uuid: 'a0c3e000-0000-4000-8000-000000000001',
  email: 'ada@acme.example',
  uri: 'https://api.example.com/v1',
  base64: 'c2VjcmV0',
};
/** Texts that fit a field of this name better. */
const BY_NAME: Readonly<Record<string, string>> = {
  tenant: 'acme',
  tenant_id: 'acme',
  plan: 'team',
  provider: 'primary',
  model: 'sim-large',
  user: 'ada',
  name: 'Acme',
  displayName: 'Acme',
  password: 'a long enough password',
  role: 'viewer',
  message: 'Back at noon.',
  reason: 'Asked for by the customer.',
  queue: 'audit',
  gateway: 'gw-1',
  gateway_id: 'gw-1',
  feature: 'search',
  timeZone: 'Europe/Berlin',
};

/**
 * A value that a schema allows: its own example, or what is required and the first of several ways; rules between
 * fields are not known then.
 */
export function exampleOf(root: JsonSchema): unknown {
  return valueOf(root, '', 0);

  function valueOf(given: JsonSchema, name: string, depth: number): unknown {
    const schema = alternatives(resolve(given, root), root)[0] ?? {};
    if (schema.examples !== undefined) return schema.examples[0];
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined) return schema.default;
    if (schema.enum !== undefined) return schema.enum[0];
    if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => valueOf(part, name, depth)));
    const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
    switch (type) {
      case 'string':
        return textOf(schema, name);
      case 'integer':
      case 'number':
        return numberOf(schema);
      case 'boolean':
        return true;
      case 'array':
        return depth >= DEPTH && (schema.minItems ?? 0) === 0
          ? []
          : (schema.prefixItems ?? (schema.items === undefined ? [] : [schema.items])).map((item) =>
              valueOf(item, name, depth + 1),
            );
      case 'object':
        return depth >= DEPTH * 2 ? {} : fieldsOf(schema, depth);
      default:
        return schema.properties === undefined ? {} : fieldsOf(schema, depth);
    }
  }

  function fieldsOf(
    { properties = {}, required = [], additionalProperties, propertyNames }: JsonSchema,
    depth: number,
  ): Record<string, unknown> {
    const shown = required.length === 0 ? Object.keys(properties).slice(0, 3) : required;
    const fields = Object.fromEntries(
      shown.flatMap((name) =>
        properties[name] === undefined ? [] : [[name, valueOf(properties[name], name, depth + 1)]],
      ),
    );
    if (typeof additionalProperties !== 'object' || Object.keys(additionalProperties).length === 0) return fields;
    const key = propertyNames === undefined ? 'name' : valueOf(propertyNames, '', depth + 1);
    return { ...fields, [String(key)]: valueOf(additionalProperties, '', depth + 1) };
  }
}

function textOf({ format, pattern, minLength = 0, maxLength = Infinity }: JsonSchema, name: string): string {
  const known = BY_FORMAT[format ?? ''];
  if (known !== undefined) return known;
  const rule = pattern === undefined ? undefined : new RegExp(pattern);
  const fits = (text: string | undefined): text is string =>
    text !== undefined && text.length >= minLength && text.length <= maxLength && (rule?.test(text) ?? true);
  const named = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  return [named, ...TEXTS].find(fits) ?? 'text';
}

function numberOf({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): number {
  const low = exclusiveMinimum ?? minimum ?? 0;
  // A share of something: between its bounds, whichever of them count.
  if (exclusiveMaximum !== undefined && type === 'number') return (low + exclusiveMaximum) / 2;
  return Math.min(
    Math.max(minimum ?? 1, exclusiveMinimum === undefined ? 1 : exclusiveMinimum + 1, 1),
    maximum ?? Infinity,
    (exclusiveMaximum ?? Infinity) - 1,
  );
}
