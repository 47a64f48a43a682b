import type { Clock } from '@sluice/contracts';
import type { SendWebhook } from './send-webhook.ts';
import { signWebhook, SIGNATURE_HEADER, WEBHOOK_ID_HEADER, webhookSecret } from './signature.ts';
import { TAKEN_OF_A_TENANT, TEST_ID_PREFIX, type DueDelivery, type WebhookStore } from './webhook-store.ts';

/** Waits between attempts, seconds: eight attempts within about four hours. */
export const RETRY_AFTER_S: readonly number[] = [10, 30, 120, 600, 1_800, 3_600, 7_200];
/** Deliveries under way at once, beyond which none are taken. */
const UNDER_WAY = 100;
/** A delivery whose sender died is taken again after this. */
const LEASE_MS = 60_000;

export interface Deliverer {
  /**
   * Sends what is due, or the one that is named, beside what earlier calls still send; resolves when it is sent.
   * Never throws.
   */
  deliver(only?: string): Promise<void>;
}

/**
 * Sends deliveries at least once; `id` of the payload is the same in each attempt, for the receiver to drop what it
 * has seen.
 */
export function createDeliverer(deps: {
  store: Pick<WebhookStore, 'take' | 'ended'>;
  send: SendWebhook;
  masterKey: string;
  clock: Pick<Clock, 'now'>;
  random: () => number;
  onError: (error: unknown) => void;
}): Deliverer {
  const { store, send, masterKey, clock, random, onError } = deps;
  let taking = false;
  const underWay = new Map<string, number>();

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
    // 410 is the receiver's way to say: never again. Up to a tenth more, so that many webhooks of one receiver do
    // not come at once.
    const retryAtMs =
      delivered || status === 410 || waitS === undefined
        ? undefined
        : clock.now() + Math.round(waitS * 1000 * (1 + random() / 10));
    await store.ended(due.id, { delivered, status, error, retryAtMs }, clock.now());
  }

  async function tracked(due: DueDelivery): Promise<void> {
    const count = (change: number): number => (underWay.get(due.tenant) ?? 0) + change;
    underWay.set(due.tenant, count(1));
    await attempt(due).catch(onError);
    if (count(-1) === 0) underWay.delete(due.tenant);
    else underWay.set(due.tenant, count(-1));
  }

  async function take(only: string | undefined): Promise<DueDelivery[]> {
    if (only !== undefined) return store.take(clock.now(), LEASE_MS, { only });
    if (taking || [...underWay.values()].reduce((sum, count) => sum + count, 0) >= UNDER_WAY) return [];
    taking = true;
    try {
      return await store.take(clock.now(), LEASE_MS, {
        without: [...underWay].filter(([, count]) => count >= TAKEN_OF_A_TENANT).map(([tenant]) => tenant),
      });
    } finally {
      taking = false;
    }
  }

  return {
    deliver: async (only) => {
      try {
        await Promise.all((await take(only)).map(tracked));
      } catch (error) {
        onError(error);
      }
    },
  };
}

function wordsFor(status: number): string {
  if (status >= 300 && status < 400) return `the receiver redirects (${status}); redirects are not followed`;
  return `the receiver answered ${status}`;
}
