/**
 * What is expected of a failure, as data: `observe` judges each against the live picture. `always` must never be false
 * while it is watched; `eventually` must become true within its seconds.
 */
export type Expectation = {
  readonly phase: 'during' | 'after';
  readonly mode: 'always' | 'eventually';
  readonly withinS: number;
  /** Whole seconds at the beginning that are not looked at. */ readonly skipS: number;
} & ExpectedFact;

export type ExpectedFact =
  /** No other tenant is refused, and none waits longer for capacity than before. */
  | { readonly fact: 'others_unchanged'; readonly except: string }
  /** The tenant's own calls are refused with each of these outcomes. */
  | { readonly fact: 'tenant_refused'; readonly tenant: string; readonly outcomes: readonly ('throttled' | 'shed')[] }
  /** No call ends badly because of a provider or of us. */
  | { readonly fact: 'no_failed_calls' }
  /** The same of calls that begin once streams in progress have been cut. */
  | { readonly fact: 'no_new_call_fails' }
  /** Calls fail, and say so clearly. */
  | { readonly fact: 'clear_failures' }
  /** Streams that the provider cuts end with an error in the stream; they cannot be answered by another. */
  | { readonly fact: 'streams_cut' }
  /** The latest calls are answered. */
  | { readonly fact: 'answered_again' }
  | { readonly fact: 'breaker'; readonly provider: string; readonly state: 'open' | 'closed' }
  /** Other providers answer. */
  | { readonly fact: 'others_answer'; readonly provider: string }
  /** The provider's failures are seen, whether or not its breaker opens. */
  | { readonly fact: 'provider_failing'; readonly provider: string }
  /** The first byte of a provider comes this late, or sooner again. */
  | { readonly fact: 'first_byte'; readonly provider: string; readonly atLeastMs?: number; readonly atMostMs?: number }
  /** The provider tells us to slow down, and its account rests. */
  | { readonly fact: 'account_rests'; readonly provider: string; readonly rests: boolean }
  | { readonly fact: 'dead_letters'; readonly queue: string; readonly some: boolean }
  | { readonly fact: 'stream_cut'; readonly gateway: string; readonly cut: boolean }
  | { readonly fact: 'gateway_restarted'; readonly gateway: string }
  | { readonly fact: 'gateway_serves'; readonly gateway: string }
  | { readonly fact: 'store'; readonly shared: boolean }
  /** A gateway's wall clock is this far from ours, give or take two seconds. */
  | { readonly fact: 'clock_off'; readonly gateway: string; readonly offsetMs: number }
  /** New calls are refused because they could not be metered. */
  | { readonly fact: 'refused_unmetered' };

const during = (withinS: number, fact: ExpectedFact): Expectation => ({
  phase: 'during',
  mode: 'eventually',
  withinS,
  skipS: 0,
  ...fact,
});
// The second in which it begins holds what was before, too.
const always = (fact: ExpectedFact, skipS = 1): Expectation => ({
  phase: 'during',
  mode: 'always',
  withinS: 0,
  skipS,
  ...fact,
});
const after = (withinS: number, fact: ExpectedFact): Expectation => ({
  phase: 'after',
  mode: 'eventually',
  withinS,
  skipS: 1,
  ...fact,
});

/**
 * A provider's failed calls go on being retried; its breaker rests 10 s at first and longer each time, so its
 * recovery is given this long.
 */
const BREAKER_CLOSES_S = 90;
/** Streams that a provider was sending when it died are cut, and are counted in the seconds after. */
const CUT_S = 3;
/** A person looks, mends and redrives. */
const REDRIVE_S = 600;

export function expectFlood(tenant: string): Expectation[] {
  return [
    always({ fact: 'others_unchanged', except: tenant }),
    during(15, { fact: 'tenant_refused', tenant, outcomes: ['throttled', 'shed'] }),
    after(20, { fact: 'answered_again' }),
  ];
}

/** @param provider the word `all` for every provider. */
export function expectProviderFault(kind: string, provider: string, latencyMs: number): Expectation[] {
  if (provider === 'all')
    return [during(20, { fact: 'clear_failures' }), after(BREAKER_CLOSES_S, { fact: 'answered_again' })];
  switch (kind) {
    case 'slow':
      return [
        always({ fact: 'no_failed_calls' }),
        during(20, { fact: 'first_byte', provider, atLeastMs: latencyMs }),
        after(30, { fact: 'first_byte', provider, atMostMs: Math.max(1_000, latencyMs / 2) }),
      ];
    case 'rate_limit':
      return [
        always({ fact: 'no_failed_calls' }),
        during(20, { fact: 'account_rests', provider, rests: true }),
        during(20, { fact: 'others_answer', provider }),
        after(BREAKER_CLOSES_S, { fact: 'account_rests', provider, rests: false }),
      ];
    case 'cut_stream':
      return [
        during(20, { fact: 'streams_cut' }),
        during(20, { fact: 'provider_failing', provider }),
        after(BREAKER_CLOSES_S, { fact: 'answered_again' }),
      ];
    case 'stall':
      return [during(60, { fact: 'provider_failing', provider }), after(BREAKER_CLOSES_S, { fact: 'answered_again' })];
    case 'no_usage':
      return [always({ fact: 'no_failed_calls' })];
    case 'garbage':
      return [during(20, { fact: 'provider_failing', provider }), after(BREAKER_CLOSES_S, { fact: 'answered_again' })];
    default:
      return [
        always({ fact: 'no_new_call_fails' }, CUT_S),
        during(30, { fact: 'breaker', provider, state: 'open' }),
        during(30, { fact: 'others_answer', provider }),
        after(BREAKER_CLOSES_S, { fact: 'breaker', provider, state: 'closed' }),
      ];
  }
}

export function expectBrokenConsumer(queue: string): Expectation[] {
  return [
    always({ fact: 'no_failed_calls' }),
    during(45, { fact: 'dead_letters', queue, some: true }),
    after(REDRIVE_S, { fact: 'dead_letters', queue, some: false }),
  ];
}

export function expectPoison(queue: string): Expectation[] {
  return [
    always({ fact: 'no_failed_calls' }),
    during(20, { fact: 'dead_letters', queue, some: true }),
    after(REDRIVE_S, { fact: 'dead_letters', queue, some: false }),
  ];
}

export function expectCutStream(gateway: string): Expectation[] {
  return [
    always({ fact: 'no_failed_calls' }),
    during(10, { fact: 'stream_cut', gateway, cut: true }),
    after(20, { fact: 'stream_cut', gateway, cut: false }),
  ];
}

export function expectKilledGateway(gateway: string): Expectation[] {
  return [after(60, { fact: 'gateway_restarted', gateway }), after(60, { fact: 'gateway_serves', gateway })];
}

export function expectLostStore(): Expectation[] {
  return [
    always({ fact: 'no_failed_calls' }),
    during(15, { fact: 'store', shared: false }),
    after(30, { fact: 'store', shared: true }),
  ];
}

export function expectClockStep(gateway: string, offsetMs: number): Expectation[] {
  return [
    always({ fact: 'no_failed_calls' }),
    during(10, { fact: 'clock_off', gateway, offsetMs }),
    after(10, { fact: 'clock_off', gateway, offsetMs: 0 }),
  ];
}

export function expectFullDisk(gateway: string): Expectation[] {
  return [
    during(15, { fact: 'refused_unmetered' }),
    after(20, { fact: 'answered_again' }),
    after(20, { fact: 'gateway_serves', gateway }),
  ];
}
