import { asObject } from '../token-count.ts';
import { isUnset, type Json } from './carrier.ts';

/** A schema of an object with its properties, which both dialects want to be told. */
export function schemaOf(schema: unknown): Json {
  const given = asObject(schema);
  const { type, properties } = given ?? {};
  return { ...given, type: isUnset(type) ? 'object' : type, ...(isUnset(properties) ? { properties: {} } : {}) };
}
