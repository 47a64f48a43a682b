import { isIP } from 'node:net';
import { z } from 'zod';

const NAMES = new Set(['loopback', 'linklocal', 'uniquelocal']);

function isNetwork(part: string): boolean {
  const [address = '', prefix, ...rest] = part.split('/');
  const family = isIP(address);
  if (NAMES.has(part)) return true;
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/**
 * `SLUICE_TRUSTED_PROXIES`: the proxies before a service, by comma, each an address, a network such as `10.0.0.0/8`,
 * or one of the names that Express knows. The client's address is the last one in `x-forwarded-for` that is no such
 * proxy's; without any, the header is not looked at.
 */
export const TrustedProxies = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .refine((parts) => parts.every(isNetwork), 'must be addresses or networks by comma, such as 10.0.0.0/8,::1,loopback');
