import type { Clock, Refusal } from '@sluice/contracts';
import { TokenBucket } from '@sluice/limits';

/** Questions that a key may ask at once, and for how many a second it is given more. */
const BURST = 100;
const PER_SECOND = 20;
/** Keys that are remembered; the one that asked first is forgotten, and its bucket is full then. */
const MAX_KEYS = 10_000;

/**
 * Bounds what a key may ask about itself: lists of models, its limits, routes that are not there. It is a bucket of
 * its own, because who has used up the rate of calls must still be able to see that, and because looking must not
 * use it up.
 */
export interface LookUps {
  /** Counts one question; a refusal where there have been too many. */
  take(keyId: string): Refusal | undefined;
}

export function createLookUps({
  clock,
  maxKeys = MAX_KEYS,
}: {
  clock: Pick<Clock, 'monotonic'>;
  maxKeys?: number;
}): LookUps {
  const buckets = new Map<string, TokenBucket>();
  return {
    take(keyId) {
      const nowMs = clock.monotonic();
      let bucket = buckets.get(keyId);
      if (bucket === undefined) {
        if (buckets.size >= maxKeys) buckets.delete(buckets.keys().next().value as string);
        buckets.set(keyId, (bucket = new TokenBucket(BURST, PER_SECOND / 1000, nowMs)));
      }
      if (bucket.has(1, nowMs)) {
        bucket.take(1, nowMs);
        return undefined;
      }
      return {
        code: 'throttled',
        message: `Models and limits may be asked for ${PER_SECOND} times a second, ${BURST} times at once.`,
        retryAfterMs: bucket.waitMs(1, nowMs),
      };
    },
  };
}
