import type { InboundCall, Refusal } from '@sluice/contracts';
import type { Json } from './carrier.ts';

type Translate<Result> = (body: Json, carryFields: readonly string[]) => Result | Refusal;

/**
 * Translates each call once, however often it is judged and built: a chain may ask for several providers. Nothing
 * is kept longer than the call.
 */
export function createTranslationCache<Result extends object>(
  translate: Translate<Result>,
): (call: InboundCall, carryFields: readonly string[]) => Result | Refusal {
  const known = new WeakMap<
    InboundCall,
    { readonly carryFields: readonly string[]; readonly result: Result | Refusal }
  >();
  return (call, carryFields) => {
    const last = known.get(call);
    if (last !== undefined && (last.carryFields === carryFields || last.carryFields.join() === carryFields.join()))
      return last.result;
    const result = translate(call.body, carryFields);
    known.set(call, { carryFields, result });
    return result;
  };
}

/** True for a refusal among the results of a translation. */
export function isNotCarried<Result extends object>(value: Result | Refusal): value is Refusal {
  return 'code' in value;
}

/** What `carryFields` lets through, in the order of the caller's body. */
export function carriedFields(body: Json, carryFields: readonly string[]): Record<string, unknown> {
  const carried: Record<string, unknown> = {};
  for (const key of carryFields) if (body[key] !== undefined) carried[key] = body[key];
  return carried;
}
