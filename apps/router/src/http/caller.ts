import { createHash, timingSafeEqual } from 'node:crypto';
import { parseApiKey, type Clock } from '@sluice/contracts';
import { bearerToken } from '@sluice/service-kit';
import type { RoutedKey, RouterConfig } from '../config/router-config.ts';

/** Who asks: one of our services, or a customer by the key of one workspace. */
export type Caller = { readonly kind: 'service' } | { readonly kind: 'key'; readonly key: RoutedKey };

/** Finds out who asks; undefined for nobody. */
export type FindCaller = (headers: {
  readonly authorization?: string | undefined;
  readonly 'x-api-key'?: string | string[] | undefined;
}) => Caller | undefined;

const SERVICE: Caller = { kind: 'service' };

/** @param config undefined while none is known; then only services are let in. */
export function createFindCaller({
  token,
  config,
  clock,
}: {
  token: string;
  config: () => RouterConfig | undefined;
  clock: Clock;
}): FindCaller {
  const expected = sha256(token);
  return ({ authorization, 'x-api-key': apiKey }) => {
    const given = bearerToken(authorization) ?? (typeof apiKey === 'string' ? apiKey : undefined);
    if (given === undefined) return undefined;
    const digest = sha256(given);
    if (timingSafeEqual(digest, expected)) return SERVICE;
    const keyId = parseApiKey(given)?.keyId;
    const key = keyId === undefined ? undefined : config()?.keys.get(keyId);
    if (key === undefined || !timingSafeEqual(digest, key.digest) || key.expiresAtMs <= clock.now()) return undefined;
    return { kind: 'key', key };
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
