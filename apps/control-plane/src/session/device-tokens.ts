import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '@sluice/contracts';
import { safeEqual } from '@sluice/service-kit';

/** How long a device counts as the owner's after a sign-in. */
export const DEVICE_TTL_MS = 90 * 86_400_000;
const TOKEN = /^([0-9a-z]{1,12})\.([\w-]{16})\.([\w-]{43})$/;

/**
 * Proofs that a device has signed in to an account before. A proof opens nothing; it keeps the owner's place apart
 * from those of strangers who guess. After OWASP, "Slow Down Online Guessing Attacks with Device Cookies" (2013).
 */
export interface DeviceTokens {
  /** For a device that has just given the right password. */
  issue(account: string): string;
  /** The device's name when the proof is ours, of this account and not too old; undefined otherwise. */
  deviceOf(token: string | undefined, account: string): string | undefined;
}

/** `key` signs; the token holds neither the account nor anything else about its owner. */
export function createDeviceTokens({ clock, key }: { clock: Pick<Clock, 'now'>; key: string }): DeviceTokens {
  const sign = (account: string, until: string, device: string): string =>
    createHmac('sha256', key).update(`sluice-device\n${until}\n${device}\n${account}`).digest('base64url');
  return {
    issue(account) {
      const until = Math.ceil((clock.now() + DEVICE_TTL_MS) / 1000).toString(36);
      const device = randomBytes(12).toString('base64url');
      return `${until}.${device}.${sign(account, until, device)}`;
    },
    deviceOf(token, account) {
      const [, until = '', device = '', signature = ''] = TOKEN.exec(token ?? '') ?? [];
      const good = device !== '' && safeEqual(signature, sign(account, until, device));
      return good && parseInt(until, 36) * 1000 > clock.now() ? device : undefined;
    },
  };
}
