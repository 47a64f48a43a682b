import { ERROR_CATALOGUE, HEADER, type PlannedAttempt, type Refusal, zeroUsage } from '@sluice/contracts';
import { payloadsOf } from '../../bodies/facts-of.ts';
import type { Call, Resolved } from '../../call.ts';
import { IMAGE_TOKENS } from '../../metering/estimator.ts';
import type { Stage } from '../../stage.ts';
import { serviceOf } from '../../planning/static-plan.ts';
import { type AttemptDeps, createAttemptStage } from './attempt.ts';
import { recordStart } from './try-once.ts';

/** Who answers where no provider counted. */
const OURSELVES = 'sluice';

/**
 * The attempt stage for every call, and for counts of tokens a way to end without a provider: where none of the
 * chain can count, or those that can fail, the caller gets an estimate that says so. It costs nothing and is
 * recorded like any call.
 */
export function createCountingAttemptStage(deps: AttemptDeps): Stage {
  const attempt = createAttemptStage(deps);
  return {
    name: attempt.name,
    run(call) {
      return call.operation === 'count_tokens' ? count(call) : attempt.run(call);
    },
  };

  async function count(call: Call): Promise<Refusal | undefined> {
    const { plan } = call.resolved as Resolved;
    const [first, ...rest] = plan.entries.filter(
      (entry) => serviceOf(deps.adapters(entry.provider.dialect), 'count_tokens') === 'own',
    );
    if (first !== undefined) {
      call.plan = { ...plan, entries: [first, ...rest] };
      const refusal = await attempt.run(call);
      if (refusal === undefined || !(isProviders(refusal) || hasNoSuchRoute(call))) return refusal;
      call.passThrough = undefined;
    }
    return (await recordStart(call, deps)) ?? answer(call, first ?? plan.entries[0]);
  }
}

/** The provider failed, rather than the caller or its deadline. */
function isProviders({ code, refusedBy }: Refusal): boolean {
  const { outcome } = ERROR_CATALOGUE[code];
  return (
    outcome === 'upstream_error' || code === 'upstream_timeout' || (code === 'queue_timeout' && refusedBy === undefined)
  );
}

/** The provider, or what stands in its place, does not count tokens: its route is not there. */
function hasNoSuchRoute({ attempts }: Call): boolean {
  const status = attempts.at(-1)?.status;
  return status === 404 || status === 405;
}

function answer(call: Call, entry: PlannedAttempt): undefined {
  const ours: PlannedAttempt = { ...entry, provider: { ...entry.provider, id: OURSELVES }, price: undefined };
  call.attempts.push({
    index: call.attempts.length,
    provider: OURSELVES,
    credential: OURSELVES,
    model: entry.model,
    provider_model: entry.providerModel,
    outcome: 'ok',
    usage: zeroUsage(),
    usage_source: 'none',
    cost_nanousd: 0,
    queue_ms: 0,
    duration_ms: 0,
  });
  call.response.setHeader(HEADER.tokenCount, 'estimate');
  call.answer = {
    kind: 'whole',
    attempt: ours,
    attemptIndex: call.attempts.length - 1,
    status: 200,
    body: Buffer.from(JSON.stringify({ input_tokens: estimateInput(call) })),
    contentType: 'application/json',
    parsed: { usage: zeroUsage(), finishReason: undefined, model: undefined, outputChars: 0 },
  };
  return undefined;
}

/** What this workspace's calls of this size have used so far, and images by their number rather than their bytes. */
function estimateInput(call: Call): number {
  const { inbound } = call.resolved as Resolved;
  const { images, imageBytes } = payloadsOf(inbound);
  const expected = call.reservation?.inputTokens ?? Math.ceil(inbound.bytes.length / 4);
  const share = Math.max(0, inbound.bytes.length - imageBytes) / inbound.bytes.length;
  return Math.max(1, Math.ceil(expected * share)) + images * IMAGE_TOKENS;
}
