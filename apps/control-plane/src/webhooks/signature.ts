import { createHmac, timingSafeEqual } from 'node:crypto';

export const SIGNATURE_HEADER = 'x-sluice-signature';
/** The alert's id: the same in every attempt. */
export const WEBHOOK_ID_HEADER = 'x-sluice-webhook-id';

/**
 * The signing secret of a webhook. It is derived, so that nothing secret is stored: who has the database has no secret.
 *
 * @param masterKey of the control plane; another one changes every secret.
 */
export function webhookSecret(masterKey: string, webhookId: string): string {
  return `whsec_${createHmac('sha256', masterKey).update(`sluice webhook secret ${webhookId}`).digest('base64url')}`;
}

/** `t=<Unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`. */
export function signWebhook(body: string, secret: string, unixSeconds: number): string {
  return `t=${unixSeconds},v1=${mac(body, secret, unixSeconds).toString('hex')}`;
}

/** What a receiver does: whether the signature is of this body and not older than the tolerance. */
export function verifyWebhook(input: {
  body: string;
  header: string;
  secret: string;
  nowSeconds: number;
  toleranceSeconds?: number;
}): boolean {
  const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(input.header);
  if (match?.[1] === undefined || match[2] === undefined) return false;
  const at = Number(match[1]);
  if (Math.abs(input.nowSeconds - at) > (input.toleranceSeconds ?? 300)) return false;
  return timingSafeEqual(mac(input.body, input.secret, at), Buffer.from(match[2], 'hex'));
}

function mac(body: string, secret: string, unixSeconds: number): Buffer {
  return createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest();
}
