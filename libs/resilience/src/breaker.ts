import type { BreakerReport, Clock, Provider } from '@sluice/contracts';
import { Blame } from './blame.ts';
import { EventWindow } from './event-window.ts';

export type BreakerOptions = Omit<Provider['breaker'], 'silenceFailsAfterMs'>;

/** Where a breaker stands, for those who look at it. */
export type BreakerState =
  | { readonly kind: 'closed' }
  /** `retryAtMs`: when probes may begin, epoch milliseconds. */
  | { readonly kind: 'open'; readonly retryAtMs: number }
  | { readonly kind: 'half_open'; readonly probesInFlight: number; readonly probesSucceeded: number };

export type BreakerStateKind = BreakerReport['state'];

export interface BreakerChange {
  readonly from: BreakerStateKind;
  readonly to: BreakerStateKind;
}

/**
 * Leave to call, to be answered exactly once; later answers, and those from before a change of state, count
 * nothing.
 */
export interface BreakerPass {
  /** True when this call tries whether the provider is well again. */
  readonly probe: boolean;
  succeed(): void;
  /** The provider's fault: connection error, our timeout, 5xx, truncated stream. */
  fail(): void;
  /** No verdict on the provider: the caller's error or abort, a rate limit. */
  ignore(): void;
}

export interface BreakerFigures {
  readonly state: BreakerStateKind;
  /** Over the window; of an open or half-open breaker, what opened it. */
  readonly failurePercent: number;
  readonly calls: number;
  /** Epoch milliseconds; only while open. */
  readonly retryAtMs: number | undefined;
}

export interface Breaker {
  /**
   * Leave for one call, or `undefined` when the call must not be made.
   *
   * @param party whose call it is. Failures that one party alone meets, while another is served, open nothing.
   */
  tryEnter(party?: string): BreakerPass | undefined;
  readonly state: BreakerState;
  report(): BreakerFigures;
  /** Other settings from now on. The state stays; verdicts are forgotten where the window has another length. */
  configure(options: BreakerOptions): void;
}

interface Probe {
  readonly expiresAtMs: number;
}

type Verdict = 'succeed' | 'fail' | 'ignore';

/** All times on the monotonic clock. */
type Inner =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly retryAtMs: number }
  | { readonly kind: 'half_open'; readonly probes: Set<Probe>; succeeded: number };

/**
 * Circuit breaker (Nygard, 2007) of one provider and model. It opens when `failurePercent` of at least
 * `minimumCalls` verdicts within `windowMs` are failures, unless one party alone met them while another was served;
 * after `cooldownMs` it lets at most `probes` calls through at a time, closes when that many have succeeded and
 * opens again at the first failure. A probe without a verdict after `probeTimeoutMs` gives its place to another.
 * There is no timer: the cooldown is computed when somebody looks.
 *
 * @param onChange hears each change of state, also the one to half-open, which the first call after the cooldown
 * makes.
 */
export function createBreaker({
  clock,
  options: given,
  onChange,
}: {
  readonly clock: Clock;
  readonly options: BreakerOptions;
  readonly onChange?: (change: BreakerChange) => void;
}): Breaker {
  let options = given;
  let window = new EventWindow(options.windowMs);
  let blame = new Blame(options.windowMs);
  let inner: Inner = { kind: 'closed' };
  /** Grows with each change of state; passes of an earlier one are stale. */
  let generation = 0;
  let openedBy = { failures: 0, calls: 0 };

  const become = (next: Inner): void => {
    const from = inner.kind;
    inner = next;
    generation++;
    onChange?.({ from, to: next.kind });
  };

  const open = (nowMs: number): void => become({ kind: 'open', retryAtMs: nowMs + options.cooldownMs });

  const closedVerdict = (failed: boolean, party: string | undefined): void => {
    const now = clock.monotonic();
    if (party !== undefined) blame.note(party, failed, now);
    window.add(failed ? 1 : 0, failed ? 0 : 1, now);
    const failures = window.first(now);
    const calls = failures + window.second(now);
    if (calls < options.minimumCalls || failures * 100 < options.failurePercent * calls) return;
    if (party !== undefined && blame.isOneParty(options.failurePercent, now)) return;
    openedBy = { failures, calls };
    open(now);
  };

  const probeVerdict = (half: Inner & { kind: 'half_open' }, probe: Probe, verdict: Verdict): void => {
    const now = clock.monotonic();
    dropExpired(half.probes, now);
    if (!half.probes.delete(probe)) return;
    if (verdict === 'fail') open(now);
    if (verdict !== 'succeed' || ++half.succeeded < options.probes) return;
    window.clear();
    blame.clear();
    become({ kind: 'closed' });
  };

  const judge = (pass: Pass, verdict: Verdict): void => {
    if (pass.born !== generation) return;
    if (inner.kind === 'half_open' && pass.place !== undefined) probeVerdict(inner, pass.place, verdict);
    else if (inner.kind === 'closed' && verdict !== 'ignore') closedVerdict(verdict === 'fail', pass.party);
  };

  const cooledDown = (nowMs: number): boolean => inner.kind === 'open' && nowMs >= inner.retryAtMs;

  const epochOf = (monotonicMs: number): number => clock.now() + (monotonicMs - clock.monotonic());

  const look = (): BreakerState => {
    const now = clock.monotonic();
    if (inner.kind === 'open' && !cooledDown(now)) return { kind: 'open', retryAtMs: epochOf(inner.retryAtMs) };
    if (inner.kind === 'closed') return { kind: 'closed' };
    if (inner.kind === 'open') return { kind: 'half_open', probesInFlight: 0, probesSucceeded: 0 };
    dropExpired(inner.probes, now);
    return { kind: 'half_open', probesInFlight: inner.probes.size, probesSucceeded: inner.succeeded };
  };

  return {
    tryEnter(party) {
      if (inner.kind === 'closed') return new Pass(judge, generation, undefined, party);
      const now = clock.monotonic();
      if (cooledDown(now)) become({ kind: 'half_open', probes: new Set(), succeeded: 0 });
      if (inner.kind !== 'half_open') return undefined;
      dropExpired(inner.probes, now);
      if (inner.probes.size + inner.succeeded >= options.probes) return undefined;
      const probe: Probe = { expiresAtMs: now + options.probeTimeoutMs };
      inner.probes.add(probe);
      return new Pass(judge, generation, probe, party);
    },
    get state() {
      return look();
    },
    report() {
      const state = look();
      const now = clock.monotonic();
      const failures = state.kind === 'closed' ? window.first(now) : openedBy.failures;
      const calls = state.kind === 'closed' ? failures + window.second(now) : openedBy.calls;
      return {
        state: state.kind,
        failurePercent: calls === 0 ? 0 : (failures * 100) / calls,
        calls,
        retryAtMs: state.kind === 'open' ? state.retryAtMs : undefined,
      };
    },
    configure(next) {
      if (next.windowMs !== options.windowMs) {
        window = new EventWindow(next.windowMs);
        blame = new Blame(next.windowMs);
      }
      options = next;
    },
  };
}

/** A class, so that its functions are made once and not per call. */
class Pass implements BreakerPass {
  readonly #judge: (pass: Pass, verdict: Verdict) => void;
  #answered = false;
  /** The breaker's generation when it was given out. */
  readonly born: number;
  /** The place of a probe that it holds. */
  readonly place: Probe | undefined;
  readonly party: string | undefined;

  constructor(
    judge: (pass: Pass, verdict: Verdict) => void,
    born: number,
    place: Probe | undefined,
    party: string | undefined,
  ) {
    this.#judge = judge;
    this.born = born;
    this.place = place;
    this.party = party;
  }

  get probe(): boolean {
    return this.place !== undefined;
  }

  succeed(): void {
    this.#answer('succeed');
  }

  fail(): void {
    this.#answer('fail');
  }

  ignore(): void {
    this.#answer('ignore');
  }

  #answer(verdict: Verdict): void {
    if (this.#answered) return;
    this.#answered = true;
    this.#judge(this, verdict);
  }
}

function dropExpired(probes: Set<Probe>, nowMs: number): void {
  for (const probe of probes) if (probe.expiresAtMs <= nowMs) probes.delete(probe);
}
