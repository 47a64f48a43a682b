import type { Clock } from '@sluice/contracts';
import type { SendWebhook } from './send-webhook.ts';
import { signWebhook, SIGNATURE_HEADER, WEBHOOK_ID_HEADER, webhookSecret } from './signature.ts';
import { TEST_ID_PREFIX, type DueDelivery, type WebhookStore } from './webhook-store.ts';

/** Waits between attempts, seconds: eight attempts within about four hours. */
export const RETRY_AFTER_S: readonly number[] = [10, 30, 120, 600, 1_800, 3_600, 7_200];
/** A delivery whose sender died is taken again after this. */
const LEASE_MS = 60_000;

export interface Deliverer {
  /** Sends what is due, or the one that is named. Never throws. */
  deliver(only?: string): Promise<void>;
}

/** Sends deliveries at least once; `id` of the payload is the same in each attempt, for the receiver to drop what it has seen. */
export function createDeliverer(deps: {
  store: Pick<WebhookStore, 'take' | 'ended'>;
  send: SendWebhook;
  masterKey: string;
  clock: Pick<Clock, 'now'>;
  random: () => number;
  onError: (error: unknown) => void;
}): Deliverer {
  const { store, send, masterKey, clock, random, onError } = deps;
  let busy = false;

  async function attempt(due: DueDelivery): Promise<void> {
    const secret = webhookSecret(masterKey, due.webhookId);
    const result = await send(due.url, due.body, {
      [SIGNATURE_HEADER]: signWebhook(due.body, secret, Math.floor(clock.now() / 1000)),
      [WEBHOOK_ID_HEADER]: due.alertId,
    });
    const status = 'status' in result ? result.status : null;
    const delivered = status !== null && status >= 200 && status < 300;
    const error = delivered ? null : 'error' in result ? result.error : wordsFor(result.status);
    // Whoever tests sees how it went and tests again.
    const waitS = due.alertId.startsWith(TEST_ID_PREFIX) ? undefined : RETRY_AFTER_S[due.attempts];
    // 410 is the receiver's way to say: never again. Up to a tenth more, so that many webhooks of one receiver do not come at once.
    const retryAtMs = delivered || status === 410 || waitS === undefined ? undefined : clock.now() + Math.round(waitS * 1000 * (1 + random() / 10));
    await store.ended(due.id, { delivered, status, error, retryAtMs }, clock.now());
  }

  return {
    deliver: async (only) => {
      if (busy && only === undefined) return;
      if (only === undefined) busy = true;
      try {
        const due = await store.take(clock.now(), LEASE_MS, only);
        await Promise.all(due.map((one) => attempt(one).catch(onError)));
      } catch (error) {
        onError(error);
      } finally {
        if (only === undefined) busy = false;
      }
    },
  };
}

function wordsFor(status: number): string {
  if (status >= 300 && status < 400) return `the receiver redirects (${status}); redirects are not followed`;
  return `the receiver answered ${status}`;
}
