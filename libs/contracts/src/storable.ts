import { z } from 'zod';

/** Where in a document a value stands that cannot be kept as it came, and why. */
export interface StorableFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** PostgreSQL holds no NUL in text, and half a surrogate pair has no UTF-8. */
const TEXT_FAULT = 'must hold neither NUL nor half of a surrogate pair, because no store can keep them';
/** The smallest normal double; below it digits are lost. */
const SMALLEST_NORMAL = 2.2250738585072014e-308;

/** True for text that every store and every JSON reader gives back as it was. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A part of a document that is still to be looked at, and the way to it. */
interface Part {
  readonly value: unknown;
  readonly key: string;
  readonly within: Part | undefined;
}

/**
 * The first part of a JSON document that a store cannot hold: text with NUL or half of a surrogate pair, a number
 * that is not finite, subnormal or negative zero, and a field named `__proto__`, which schemas drop in silence.
 *
 * @param document as `JSON.parse` gives it; any depth.
 */
export function storableFault(document: unknown): StorableFault | undefined {
  const open: Part[] = [{ value: document, key: '', within: undefined }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const message = faultOf(part);
    if (message !== undefined) return { path: pathOf(part), message };
    if (typeof part.value !== 'object' || part.value === null) continue;
    for (const [key, value] of Object.entries(part.value).reverse()) open.push({ value, key, within: part });
  }
  return undefined;
}

function faultOf({ value, key }: Part): string | undefined {
  if (key === '__proto__') return 'no field may have this name';
  if (!isStorableText(key)) return TEXT_FAULT;
  if (typeof value === 'string') return isStorableText(value) ? undefined : TEXT_FAULT;
  return typeof value === 'number' ? numberFault(value) : undefined;
}

function pathOf(part: Part): string[] {
  const path: string[] = [];
  for (let at = part; at.within !== undefined; at = at.within)
    path.push(at.key.toWellFormed().replaceAll('\0', '\ufffd'));
  return path.reverse();
}

function numberFault(value: number): string | undefined {
  if (!Number.isFinite(value)) return 'must be a finite number';
  if (Object.is(value, -0)) return 'must not be negative zero';
  if (value !== 0 && Math.abs(value) < SMALLEST_NORMAL) return 'is too small a number to be exact';
  return undefined;
}

/** True for an id that plain objects have without being given it, such as `constructor`. */
export function isReservedName(name: string): boolean {
  return name in Object.prototype;
}

/** Headers that a connection or the gateway itself sets. */
const OWN_HEADERS = new Set([
  'authorization',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
]);

/** Name of an extra header. */
export const HeaderName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'must be the name of a header: letters, digits and hyphens')
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), 'is a header that the gateway sets itself');

/** Value of an extra header: what HTTP carries unchanged. */
export const HeaderValue = z
  .string()
  .max(4_096)
  .regex(/^[\x20-\x7e\t]*$/, 'must be printable ASCII on one line, as headers carry it');
