import { alternatives, mayBeNull, resolve, type JsonSchema } from './json-schema.ts';

/** One field of a shape, as a row of a table. */
export interface ShapeRow {
  /** From the top: `limits.requests.perSecond`; `[]` is each item of a list, `<name>` each field of a record. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  /** Bounds, format, default, in words. */
  readonly notes: string;
}

/** How deep a shape is told; what lies deeper is in the machine-readable description. */
const DEPTH = 4;

/** The fields of a schema, the outer ones first. @returns none for a schema without fields: a text, a number. */
export function shapeOf(root: JsonSchema): ShapeRow[] {
  const rows: ShapeRow[] = [];
  addFields(root, '', 0);
  return rows;

  function addFields(given: JsonSchema, prefix: string, depth: number): void {
    if (depth >= DEPTH) return;
    for (const schema of alternatives(resolve(given, root), root)) {
      for (const part of schema.allOf ?? []) addFields(part, prefix, depth);
      for (const [name, field] of Object.entries(schema.properties ?? {}))
        addRow(field, prefix === '' ? name : `${prefix}.${name}`, schema.required?.includes(name) ?? false, depth);
      const { items, additionalProperties } = schema;
      if (items !== undefined) addFields(items, `${prefix}[]`, depth);
      if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0)
        addRow(additionalProperties, prefix === '' ? '<name>' : `${prefix}.<name>`, false, depth);
    }
  }

  function addRow(given: JsonSchema, path: string, required: boolean, depth: number): void {
    // The alternatives of a union have fields in common.
    if (rows.some((row) => row.path === path)) return;
    const schema = resolve(given, root);
    rows.push({ path, type: typeOf(schema, root), required, notes: notesOf(schema) });
    addFields(schema, path, depth + 1);
  }
}

/** What a value is: `text`, `whole number`, `list of texts`, `"a" or "b"`. */
export function typeOf(given: JsonSchema, root: JsonSchema): string {
  const schema = resolve(given, root);
  const words = alternatives(schema, root).map((option) => oneType(option, root));
  return [...new Set(words), ...(mayBeNull(schema) ? ['null'] : [])].join(' or ');
}

function oneType(schema: JsonSchema, root: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  switch (type) {
    case 'string':
      return schema.format === 'date-time' ? 'instant' : 'text';
    case 'integer':
      return 'whole number';
    case 'array':
      return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items, root)}`;
    case 'object':
      return schema.properties === undefined ? 'record' : 'object';
    case 'number':
    case 'boolean':
      return type === 'number' ? 'number' : 'true or false';
    default:
      return schema.allOf === undefined ? 'anything' : 'object';
  }
}

/** Where zod bounds what has no bound. */
const SAFE = Number.MAX_SAFE_INTEGER;

function notesOf(schema: JsonSchema): string {
  const {
    minimum,
    maximum,
    exclusiveMinimum,
    minLength,
    maxLength,
    minItems,
    maxItems,
    format,
    default: preset,
  } = schema;
  const notes = [
    bounds(minimum === -SAFE ? undefined : minimum, maximum === SAFE ? undefined : maximum, ''),
    exclusiveMinimum === undefined ? undefined : `above ${exclusiveMinimum.toLocaleString('en-US')}`,
    bounds(minLength, maxLength, ' characters'),
    bounds(minItems, maxItems, ' items'),
    format === undefined || format === 'date-time' ? undefined : format,
    preset === undefined ? undefined : `${JSON.stringify(preset)} when absent`,
  ];
  return notes.filter((note) => note !== undefined).join('; ');
}

function bounds(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  const words = (value: number): string => value.toLocaleString('en-US');
  if (least !== undefined && most !== undefined) return `${words(least)} to ${words(most)}${unit}`;
  if (least !== undefined) return `at least ${words(least)}${unit}`;
  return most === undefined ? undefined : `at most ${words(most)}${unit}`;
}
