import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ChaosReport } from '@sluice/contracts';
import type { ChaosContext, ChaosStep } from './chaos-step.ts';
import { CALM, startTraffic, type Rates } from './steady-traffic.ts';

const Started = z.object({ id: z.string() });

/** So that the providers were called and the others' waits are known before anything breaks. */
const WARM_S = 2;

export interface WatchedFailure {
  /** `POST /api/chaos/<name>`. */
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly rates?: Rates;
  /** Every promise has its verdict by then. */
  readonly withinS: number;
}

/**
 * Starts a failure under steady traffic and waits until the control plane has judged everything that it expects of it:
 * the same verdicts as the operator console shows.
 */
export async function runWatched(
  { operator, stack, report }: Pick<ChaosContext, 'operator' | 'stack' | 'report'>,
  { name, body, rates = CALM, withinS }: WatchedFailure,
): Promise<boolean> {
  const traffic = startTraffic(stack, rates);
  let found: ChaosReport | undefined;
  try {
    await delay(WARM_S * 1000);
    const { id } = Started.parse(await operator.call('POST', `/api/chaos/${name}`, body));
    const deadlineMs = performance.now() + withinS * 1000;
    while (found?.phase !== 'done' && performance.now() < deadlineMs) {
      await delay(500);
      found = (await operator.state()).chaos_reports.find((one) => one.id === id);
    }
  } finally {
    await traffic.stop();
  }
  if (found === undefined) return report('the control plane watches it', ['its picture has no such failure']);
  return found.checks
    .map((check) =>
      report(
        `${check.phase === 'after' ? 'afterwards ' : ''}${check.expected}; observed: ${check.observed}`,
        check.verdict === 'holds' ? [] : [check.verdict === 'waiting' ? `not within ${withinS} s` : check.verdict],
      ),
    )
    .every(Boolean);
}

const watched = (text: string, failure: WatchedFailure): ChaosStep => ({
  text,
  run: (context) => runWatched(context, failure),
});
const provider = (text: string, body: Readonly<Record<string, unknown>>): ChaosStep =>
  watched(text, { name: 'provider', body, withinS: 130 });

/** Failures that the control plane judges itself. */
export const WATCHED_STEPS: readonly ChaosStep[] = [
  watched('A noisy neighbour: initech sends 120 calls a second, its plan allows 5.', {
    name: 'flood',
    body: { tenant: 'initech', rps: 120, seconds: 10 },
    rates: { acme: 4, globex: 6 },
    withinS: 60,
  }),
  provider('A slow upstream: the first provider of every chain answers 3 s later.', {
    provider: 'primary',
    kind: 'slow',
    latency_ms: 3_000,
    seconds: 7,
  }),
  provider('A dead provider: the first of every chain closes its connections.', {
    provider: 'primary',
    kind: 'down',
    seconds: 8,
  }),
  provider('Every provider is dead.', { provider: 'all', kind: 'down', seconds: 6 }),
  provider('Streams are cut in their middle.', { provider: 'primary', kind: 'cut_stream', seconds: 7 }),
  watched("A gateway's clock steps an hour ahead, and back.", {
    name: 'clock',
    body: { offset_ms: 3_600_000, seconds: 6 },
    withinS: 60,
  }),
  watched("The disk of a gateway's outbox is full.", { name: 'disk', body: { seconds: 5 }, withinS: 60 }),
];
