import { SluiceError, type InboundCall, type ProviderDialect, type Refusal, type WrittenBody } from '@sluice/contracts';
import type { Carriage, Json } from './carrier.ts';

type Translate<Result> = (call: Pick<InboundCall, 'body' | 'bytes'>, carriage: Carriage) => Result | Refusal;

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
    const result = translate(call, { carryFields, drops: call.acrossDialects === 'drop' });
    known.set(call, { carryFields, result });
    return result;
  };
}

/** What a worker said of a large body: a refusal when it cannot be carried to this dialect. */
export function judgedOf(
  { large }: InboundCall,
  dialect: ProviderDialect,
  carryFields: readonly string[],
): Refusal | undefined {
  return large?.judged.find((one) => one.dialect === dialect && one.carryFields.join() === carryFields.join())?.refusal;
}

/** The request that a worker wrote of a large body; undefined for any other. @throws SluiceError when none did. */
export function translatedOf({ large }: InboundCall): WrittenBody | undefined {
  if (large === undefined) return undefined;
  if (large.translated === undefined)
    throw new SluiceError('internal', 'a large body was not translated before it was sent');
  return large.translated;
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
