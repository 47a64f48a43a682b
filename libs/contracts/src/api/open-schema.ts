import { z } from 'zod';

/**
 * The same shape, open at every level: unknown fields are let through, and checks of whole objects are left to
 * whoever wrote them. For reading what another service answers, which may say more next year.
 */
export function openSchema<S extends z.ZodType>(schema: S): z.ZodType<z.output<S>> {
  return open(schema) as z.ZodType<z.output<S>>;
}

function open(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Record<string, unknown>;
    return z.looseObject(Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, open(field)])));
  }
  if (schema instanceof z.ZodArray) return z.array(open(schema.element));
  if (schema instanceof z.ZodNullable) return open(schema.unwrap()).nullable();
  if (schema instanceof z.ZodOptional) return open(schema.unwrap()).optional();
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return open(schema.unwrap()).optional();
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map(open) as [z.ZodType, z.ZodType]);
  if (schema instanceof z.ZodRecord) return openRecord(schema.keyType as z.ZodType, open(schema.valueType));
  return schema as z.ZodType;
}

/** Entries that are not as agreed are left out: a record has no unknown fields, only entries of a later kind. */
function openRecord(key: z.ZodType, value: z.ZodType): z.ZodType {
  return z.record(z.string(), z.unknown()).transform((entries) =>
    Object.fromEntries(
      Object.entries(entries).flatMap(([name, entry]) => {
        const read = key.safeParse(name).success ? value.safeParse(entry) : undefined;
        return read?.success === true ? [[name, read.data]] : [];
      }),
    ),
  );
}
