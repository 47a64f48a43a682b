import type { OperatorState, Outcome, StateTenant } from '@sluice/contracts';
import type { ExpectedFact } from './expectations.ts';

/** What is looked at: the picture now, the one when the failure began, and which seconds count. */
export interface Watched {
  readonly picture: OperatorState;
  readonly before: OperatorState;
  /** Unix seconds: from, inclusive, to, exclusive. */
  readonly from: number;
  readonly to: number;
}

export interface Observation {
  /** In figures and words. */
  readonly observed: string;
  /** Undefined when there was nothing that could have shown it. */
  readonly holds: boolean | undefined;
}

/**
 * A neighbour's longest wait for capacity may grow by this much and still count as unchanged: scheduling noise of a
 * busy machine.
 */
export const WAIT_TOLERANCE_MS = 25;
/** `answered again` looks at the calls of the last seconds. */
const LATEST_S = 3;

const FAILED: readonly Outcome[] = ['upstream_error', 'timeout', 'internal_error', 'interrupted'];

/** What is expected, in words. */
export function describe(fact: ExpectedFact): string {
  switch (fact.fact) {
    case 'others_unchanged':
      return `every tenant but ${fact.except} is unchanged: none shed, none throttled, no longer wait`;
    case 'tenant_refused':
      return `${fact.tenant} is ${fact.outcomes.join(' and ')}`;
    case 'no_failed_calls':
      return 'no call fails: inference does not notice';
    case 'no_new_call_fails':
      return 'no new call fails (streams that were being sent when it died are cut)';
    case 'clear_failures':
      return 'calls fail fast and clearly (502), and none hangs';
    case 'streams_cut':
      return 'streams that were cut end with an error in the stream';
    case 'answered_again':
      return 'calls are answered again, by themselves';
    case 'breaker':
      return fact.state === 'open'
        ? `a breaker of ${fact.provider} opens`
        : `the breakers of ${fact.provider} close again, by themselves`;
    case 'others_answer':
      return `other providers answer in the place of ${fact.provider}`;
    case 'provider_failing':
      return `the failures of ${fact.provider} are seen`;
    case 'first_byte':
      return fact.atLeastMs !== undefined
        ? `the first byte of ${fact.provider} comes after ${fact.atLeastMs} ms or more`
        : `the first byte of ${fact.provider} comes within ${fact.atMostMs ?? 0} ms again`;
    case 'account_rests':
      return fact.rests ? `our account at ${fact.provider} rests` : `our account at ${fact.provider} is used again`;
    case 'dead_letters':
      return fact.some
        ? `${fact.queue}-dlq fills`
        : `${fact.queue}-dlq is empty again once it is redriven (poison: discarded)`;
    case 'stream_cut':
      return fact.cut
        ? `${nameOf(fact.gateway)} reports that it is cut off`
        : `${nameOf(fact.gateway)} is connected and has the newest configuration`;
    case 'gateway_restarted':
      return `${fact.gateway} is started again as another process`;
    case 'gateway_serves':
      return `${fact.gateway} serves`;
    case 'store':
      return fact.shared
        ? 'gateways count in the shared store again'
        : 'gateways go on with their local share of every limit';
    case 'clock_off':
      return fact.offsetMs === 0
        ? `the clock of ${fact.gateway} is right again`
        : `the clock of ${fact.gateway} is ${Math.round(fact.offsetMs / 1000)} s off`;
    case 'refused_unmetered':
      return 'new calls are refused (503), because they could not be metered';
  }
}

/** Judges one fact. Pure. */
export function observe(fact: ExpectedFact, watched: Watched): Observation {
  const { picture } = watched;
  switch (fact.fact) {
    case 'others_unchanged':
      return othersUnchanged(fact.except, watched);
    case 'tenant_refused': {
      const sums = sumOutcomes(
        picture.tenants.filter(({ tenant }) => tenant === fact.tenant),
        watched,
      );
      return {
        observed: fact.outcomes.map((outcome) => `${sums[outcome] ?? 0} ${outcome}`).join(', '),
        holds: total(sums) === 0 ? undefined : fact.outcomes.every((outcome) => (sums[outcome] ?? 0) > 0),
      };
    }
    case 'no_new_call_fails':
    case 'no_failed_calls': {
      const sums = sumOutcomes(picture.tenants, watched);
      const failed = FAILED.reduce((sum, outcome) => sum + (sums[outcome] ?? 0), 0);
      return {
        observed: `${failed} of ${total(sums)} calls failed`,
        holds: total(sums) === 0 ? undefined : failed === 0,
      };
    }
    case 'clear_failures': {
      const sums = sumOutcomes(picture.tenants, watched);
      const late = sums.timeout ?? 0;
      return {
        observed: `${sums.upstream_error ?? 0} ended with 502, ${late} timed out`,
        holds: total(sums) === 0 ? undefined : (sums.upstream_error ?? 0) > 0 && late === 0,
      };
    }
    case 'streams_cut': {
      const sums = sumOutcomes(picture.tenants, watched);
      return {
        observed: `${sums.upstream_error ?? 0} of ${total(sums)} calls ended so`,
        holds: total(sums) === 0 ? undefined : (sums.upstream_error ?? 0) > 0,
      };
    }
    case 'answered_again': {
      const latest = Math.max(watched.from, lastSecond(picture) - LATEST_S);
      const sums = sumOutcomes(picture.tenants, { from: latest, to: Infinity });
      const failed = [...FAILED, 'shed' as const].reduce((sum, outcome) => sum + (sums[outcome] ?? 0), 0);
      return {
        observed: `in the last ${LATEST_S} s ${sums.ok ?? 0} answered, ${failed} failed or shed`,
        holds: total(sums) === 0 ? undefined : (sums.ok ?? 0) > 0 && failed === 0,
      };
    }
    case 'breaker':
      return breaker(fact.provider, fact.state, watched);
    case 'others_answer': {
      const others = picture.providers.filter(({ provider }) => provider !== fact.provider);
      const answered = others.reduce((sum, { figures }) => sum + figures.answered, 0);
      const tried = picture.providers.reduce((sum, { figures }) => sum + figures.attempts, 0);
      return {
        observed:
          others.map(({ provider, figures }) => `${provider} ${figures.answered}`).join(', ') + ' in the last 10 s',
        holds: tried === 0 ? undefined : answered > 0,
      };
    }
    case 'provider_failing': {
      const figures = picture.providers.find(({ provider }) => provider === fact.provider)?.figures;
      return {
        observed: `${figures?.failed ?? 0} of ${figures?.attempts ?? 0} attempts failed in the last 10 s`,
        holds: figures === undefined || figures.attempts === 0 ? undefined : figures.failed > 0,
      };
    }
    case 'first_byte': {
      const figures = picture.providers.find(({ provider }) => provider === fact.provider)?.figures;
      if (figures === undefined || figures.answered === 0)
        return { observed: 'it was not asked in the last 10 s', holds: undefined };
      const holds =
        fact.atLeastMs === undefined
          ? figures.ttfb_ms_mean <= (fact.atMostMs ?? Infinity)
          : figures.ttfb_ms_max >= fact.atLeastMs;
      return {
        observed: `mean ${Math.round(figures.ttfb_ms_mean)} ms, longest ${Math.round(figures.ttfb_ms_max)} ms in the last 10 s`,
        holds,
      };
    }
    case 'account_rests': {
      const pools = picture.providers.find(({ provider }) => provider === fact.provider)?.pools ?? [];
      const resting = pools.filter(({ state }) => state !== 'ok').length;
      return {
        observed: `${resting} of ${pools.length} accounts rest`,
        holds: pools.length === 0 ? undefined : resting > 0 === fact.rests,
      };
    }
    case 'dead_letters': {
      const queue = picture.queues?.find((one) => one.queue === fact.queue);
      return {
        observed: queue === undefined ? 'the spine does not answer' : `${queue.depth} dead letters`,
        holds: queue === undefined ? undefined : queue.depth > 0 === fact.some,
      };
    }
    case 'stream_cut': {
      const found = picture.gateways.filter(
        (gateway) => gateway.live && (fact.gateway === 'all' || gateway.gateway_id === fact.gateway),
      );
      const cut = found.filter((gateway) => !gateway.config_connected).length;
      const behind = found.filter((gateway) => gateway.config_version !== picture.config_version).length;
      return {
        observed: `${cut} of ${found.length} cut off, ${behind} behind version ${picture.config_version}`,
        holds: found.length === 0 ? undefined : fact.cut ? cut > 0 : cut === 0 && behind === 0,
      };
    }
    case 'gateway_restarted': {
      const now = picture.gateways.find(({ gateway_id }) => gateway_id === fact.gateway);
      const then = watched.before.gateways.find(({ gateway_id }) => gateway_id === fact.gateway);
      const another = now !== undefined && now.pid !== then?.pid && now.live;
      return {
        observed:
          now === undefined
            ? 'it has not reported'
            : `process ${then?.pid ?? '?'} before, ${now.pid} now${now.live ? '' : ', silent'}`,
        holds: another,
      };
    }
    case 'gateway_serves': {
      const now = picture.gateways.find(({ gateway_id }) => gateway_id === fact.gateway);
      return {
        observed: now === undefined ? 'it has not reported' : now.live ? now.state : 'silent',
        holds: now !== undefined && now.live && now.state === 'serving',
      };
    }
    case 'store': {
      const stores = picture.gateways.filter(({ live }) => live).map(({ store }) => store);
      return {
        observed: stores.join(', ') || 'no gateway reports',
        holds:
          stores.length === 0
            ? undefined
            : stores.every((store) => store === (fact.shared ? 'valkey' : 'valkey_local_share')),
      };
    }
    case 'clock_off': {
      const gateway = picture.gateways.find(({ gateway_id }) => gateway_id === fact.gateway);
      if (gateway === undefined || !gateway.live) return { observed: 'it is silent', holds: undefined };
      const off = gateway.at_ms - Date.parse(picture.at);
      return { observed: `${Math.round(off / 1000)} s off`, holds: Math.abs(off - fact.offsetMs) < CLOCK_TOLERANCE_MS };
    }
    case 'refused_unmetered': {
      const sums = sumOutcomes(picture.tenants, watched);
      return {
        observed: `${sums.shed ?? 0} of ${total(sums)} calls refused`,
        holds: total(sums) === 0 ? undefined : (sums.shed ?? 0) > 0,
      };
    }
  }
}

/** A report is up to a live gateway's silence old. */
const CLOCK_TOLERANCE_MS = 4_000;

function othersUnchanged(except: string, watched: Watched): Observation {
  const others = watched.picture.tenants.filter(({ tenant }) => tenant !== except);
  const sums = sumOutcomes(others, watched);
  const waits = longestWait(others, watched);
  const most = waitOfMost(others, watched);
  const waitsBefore = longestWait(
    watched.before.tenants.filter(({ tenant }) => tenant !== except),
    { from: 0, to: watched.from },
  );
  const shed = sums.shed ?? 0;
  const throttled = sums.throttled ?? 0;
  return {
    observed: `${total(sums)} calls of the others: ${shed} shed, ${throttled} throttled, queue p99 at most ${most.toFixed(1)} ms, longest wait ${waits.toFixed(1)} ms (before: ${waitsBefore.toFixed(1)} ms)`,
    holds: total(sums) === 0 ? undefined : shed === 0 && throttled === 0 && waits <= waitsBefore + WAIT_TOLERANCE_MS,
  };
}

function breaker(provider: string, wanted: 'open' | 'closed', { picture }: Watched): Observation {
  const breakers = picture.providers.find((one) => one.provider === provider)?.breakers ?? [];
  const open = breakers.filter(({ state }) => state === 'open').length;
  const half = breakers.filter(({ state }) => state === 'half_open').length;
  const partly = breakers.filter(({ state }) => state === 'partly_open').length;
  const closed = breakers.length - open - half - partly;
  return {
    observed:
      breakers.length === 0
        ? 'it was not called'
        : `${open} open, ${half} half open, ${partly} open for some tenants, ${closed} closed`,
    holds: breakers.length === 0 ? undefined : wanted === 'open' ? open > 0 : closed === breakers.length,
  };
}

type Span = Pick<Watched, 'from' | 'to'>;

function sumOutcomes(tenants: readonly StateTenant[], { from, to }: Span): Partial<Record<Outcome, number>> {
  const sums: Partial<Record<Outcome, number>> = {};
  for (const { seconds } of tenants) {
    for (const { second, outcomes } of seconds) {
      if (second < from || second >= to) continue;
      for (const [outcome, count] of Object.entries(outcomes) as [Outcome, number][])
        sums[outcome] = (sums[outcome] ?? 0) + count;
    }
  }
  return sums;
}

function longestWait(tenants: readonly StateTenant[], { from, to }: Span): number {
  return Math.max(
    0,
    ...tenants.flatMap(({ seconds }) =>
      seconds.filter(({ second }) => second >= from && second < to).map(({ queue_ms_max }) => queue_ms_max),
    ),
  );
}

/**
 * What 99 % of the calls waited at most. The picture has each second's calls with the longest wait among them, not
 * each wait, so this bounds the p99 from above: it is never told too small.
 */
function waitOfMost(tenants: readonly StateTenant[], { from, to }: Span): number {
  const seconds = tenants
    .flatMap((tenant) => tenant.seconds)
    .filter(({ second }) => second >= from && second < to)
    .map(({ outcomes, queue_ms_max }) => ({ calls: total(outcomes), waitMs: queue_ms_max }))
    .toSorted((a, b) => a.waitMs - b.waitMs);
  const wanted = seconds.reduce((sum, { calls }) => sum + calls, 0) * 0.99;
  let seen = 0;
  for (const { calls, waitMs } of seconds) {
    seen += calls;
    if (seen >= wanted && calls > 0) return waitMs;
  }
  return 0;
}

const total = (sums: Partial<Record<Outcome, number>>): number =>
  Object.values(sums).reduce((sum, count) => sum + count, 0);

const lastSecond = (picture: OperatorState): number => Math.floor(Date.parse(picture.at) / 1000);

const nameOf = (gateway: string): string => (gateway === 'all' ? 'every gateway' : gateway);
