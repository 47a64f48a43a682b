import type { Clock } from '@sluice/contracts';
import type { Call, CallFigures } from '../call.ts';
import type { FoundAnomaly } from './publish-anomaly.ts';

/** What has not been met for this long is over: the next time is told again. */
const EPISODE_MS = 600_000;
const MAX_EPISODES = 1_000;

/**
 * Tells people once an episode that a provider counts what cannot be, or that something was served which has no price.
 *
 * @param publish must not throw.
 */
export function createUsageAlerts({
  clock,
  publish,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly publish: (anomaly: FoundAnomaly) => void;
}): (call: Call, figures: CallFigures) => void {
  const lastSeen = new Map<string, number>();

  function isNew(episode: string): boolean {
    const now = clock.now();
    const before = lastSeen.get(episode);
    lastSeen.delete(episode);
    if (lastSeen.size >= MAX_EPISODES) lastSeen.delete(lastSeen.keys().next().value as string);
    lastSeen.set(episode, now);
    return before === undefined || now - before >= EPISODE_MS;
  }

  return (call, { usageSource, unpriced }) => {
    const answered = call.answer?.attempt;
    if (answered === undefined) return;
    const place = `${answered.provider.id}/${answered.model}`;
    if (usageSource === 'bounded' && isNew(`usage ${place}`))
      publish({
        type: 'usage.implausible',
        level: 'provider',
        subject: place,
        message: `${answered.provider.id} counts more tokens for ${answered.model} than the call can have used: its counts are not believed, and estimates are billed. If they are right, correct the context and the largest output of the model in the catalogue.`,
        samples: [call.id],
      });
    for (const { what, of } of unpriced) {
      if (!isNew(`price ${of} ${what}`)) continue;
      publish({
        type: 'price.missing',
        level: 'provider',
        subject: of,
        message: `${of} has no price for ${what}, which was served and is priced as if it were ordinary use. Add its price.`,
        samples: [call.id],
      });
    }
  };
}
