import { z } from 'zod';
import { isReservedName } from './storable.ts';

const NOT_RESERVED = 'is a name that every JavaScript object has; choose another';
const isFree = (name: string): boolean => !isReservedName(name);

/** A workspace's globally unique DNS label, lower case. */
export const SLUG_PATTERN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
export const Slug = z
  .string()
  .regex(SLUG_PATTERN, 'must be a DNS label: lower-case letters, digits and inner hyphens, at most 63 characters')
  .refine(isFree, NOT_RESERVED);

/**
 * Identifier of a configured thing (tenant, plan, provider, model, credential): letters, digits, `.`, `_`, `:`,
 * `/`, `-`.
 */
export const Name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/,
    'must be 1 to 128 letters, digits, dots, underscores, colons, slashes or hyphens',
  )
  .refine(isFree, NOT_RESERVED);

export const Uuid = z.uuid();

/** ULID alphabet (Crockford base 32, no I L O U). */
const ULID = '[0-9A-HJKMNP-TV-Z]{26}';

/** `req_` + ULID; always made by the gateway, never by a caller. */
export const RequestId = z.string().regex(new RegExp(`^req_${ULID}$`));

/** `sk-sluice-<keyId>-<secret>`; both parts base62. The key id is public, the secret is not. */
export const API_KEY_PATTERN = /^sk-sluice-([A-Za-z0-9]{8,32})-([A-Za-z0-9]{24,64})$/;
export const KeyId = z
  .string()
  .regex(/^[A-Za-z0-9]{8,32}$/)
  .refine(isFree, NOT_RESERVED);

/** Lower-case hexadecimal SHA-256 of the whole key string. */
export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);

/** Splits a key into its public id; `undefined` when the text is not a key at all. */
export function parseApiKey(text: string): { keyId: string } | undefined {
  const match = API_KEY_PATTERN.exec(text);
  return match?.[1] === undefined ? undefined : { keyId: match[1] };
}

/** RFC 3339 instant in UTC with milliseconds. */
export const Instant = z.iso.datetime();

/** A whole number of nanodollars, below 2^53. */
export const NanoUsd = z.int().min(0);
/** A whole number of picodollars for one token: $1 per million tokens is 1,000,000. */
export const PicoUsdPerToken = z.int().min(0);

export const DEFAULT_CELL_ID = 'cell-shared-1';
