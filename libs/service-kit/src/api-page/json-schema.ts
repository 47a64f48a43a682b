/** As much of JSON Schema as zod writes. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly propertyNames?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The schema that a local reference leads to; the schema itself where it is none, or leads nowhere. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (schema.$ref === '#') return root;
  const name = schema.$ref?.startsWith('#/$defs/') === true ? schema.$ref.slice('#/$defs/'.length) : undefined;
  const found = name === undefined ? undefined : root.$defs?.[name];
  return found === undefined || found === schema ? schema : resolve(found, root);
}

/** The alternatives of a schema, without null; the schema itself where there is one only. */
export function alternatives(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const options = schema.anyOf ?? schema.oneOf;
  if (options === undefined) return [schema];
  return options.map((option) => resolve(option, root)).filter(({ type }) => type !== 'null');
}

/** Whether null is one of its values. */
export const mayBeNull = (schema: JsonSchema): boolean =>
  (schema.anyOf ?? schema.oneOf ?? []).some(({ type }) => type === 'null') ||
  (Array.isArray(schema.type) && schema.type.includes('null'));
