import type { BreakerReport, Clock, Provider } from '@sluice/contracts';
import { EventWindow } from './event-window.ts';
import { KIND, NONE, Parties, RECENT_MS, type Probe, type Probes } from './parties.ts';
import { ProbeAllowance } from './probe-allowance.ts';

export type BreakerOptions = Omit<Provider['breaker'], 'silenceFailsAfterMs'>;

/**
 * Of all parties together: `closed` for all, `open` where the provider is held to be down, `half_open` where all of
 * those that it is not closed for have probes, `partly_open` where the others are served.
 */
export type BreakerStateKind = BreakerReport['state'];

/** The party of the gateway's own probes. What it meets is nobody's fault but the provider's. */
export const OWN_PARTY = '';

/** Other parties that must fail before one without evidence of its own is held back: what one meets is its own. */
const CAREFUL_FROM = 2;
/** A party's failures in a row that open its breaker while others fail too, over at least this time without success. */
const RUN = 3;
const RUN_LASTS_MS = 1_000;
/** Names in a report. */
const NAMED = 5;
/** What a party that is held back is told to wait where no time is known. */
const SOON_MS = 1_000;

/** For whom a breaker is not closed. */
export interface BreakerReach {
  /** Parties that were heard of lately and have evidence of their own, without the gateway's own probes. */
  readonly tenants: number;
  /** Of these, the ones that it is open or half open for. */
  readonly tenantsOpen: number;
  /** A few of their names, the one heard of last first. */
  readonly openFor: readonly string[];
}

export interface BreakerChange extends BreakerReach {
  readonly from: BreakerStateKind;
  readonly to: BreakerStateKind;
}

/**
 * Leave to call, to be answered exactly once; later answers, and those from before a change of the party's state,
 * count nothing.
 */
export interface BreakerPass {
  /** True when this call tries whether the provider is well again. */
  readonly probe: boolean;
  /** The first content has come: a party without evidence has some. The verdict is still to be given. */
  answers(): void;
  succeed(): void;
  /** The provider's fault: connection error, our timeout, 5xx, truncated stream. */
  fail(): void;
  /** No verdict on the provider: the caller's error or abort, a rate limit. */
  ignore(): void;
}

export interface BreakerFigures extends BreakerReach {
  readonly state: BreakerStateKind;
  /** Of all parties over the window; while the state is not closed, when it began. */
  readonly failurePercent: number;
  readonly calls: number;
  /** Epoch milliseconds; when the first of those that wait for their cooldown may probe. */
  readonly retryAtMs: number | undefined;
}

export interface Breaker {
  /** Leave for one call of this party, or `undefined` when the call must not be made. */
  tryEnter(party: string): BreakerPass | undefined;
  /** How long a party that was refused should wait, milliseconds; 0 where its breaker is closed. */
  waitMs(party: string): number;
  report(): BreakerFigures;
  /** Other settings from now on. The state stays; verdicts are forgotten where the window has another length. */
  configure(options: BreakerOptions): void;
}

type Verdict = 'succeed' | 'fail' | 'ignore';

/**
 * Circuit breaker (Nygard, 2007) of one provider and model, judged by several parties. Each has a breaker of its own,
 * which opens when `failurePercent` of at least `minimumCalls` of its verdicts within `windowMs` are failures, or,
 * while half of the other parties fail too, at three failures in a row without a success for a second. After
 * `cooldownMs` it lets at most `probes` calls through at a time, closes when that many have succeeded and opens again
 * at the first failure. A probe without a verdict after `probeTimeoutMs` gives its place to another.
 *
 * So a party that is served goes on, whatever the others meet, and a party that keeps failing its probes delays nobody.
 * The others' failures warn only a party without a verdict within the window: while half of the others fail, and at
 * least two, it begins with probes, about one a second for all such parties.
 *
 * Nothing here costs more with more parties, and there is no timer: the cooldown is computed when somebody looks.
 *
 * @param onChange hears each change of the state of all together.
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
  const parties = new Parties(options.windowMs, countedMs(options));
  const allowance = new ProbeAllowance();
  let state: BreakerStateKind = 'closed';
  let openedBy = { failures: 0, calls: 0 };
  /** Successes in a row of the gateway's own probes. */
  let ownSuccesses = 0;
  let ownRow = NONE;

  const look = (now: number): void => {
    parties.roll(now);
    if (state === 'closed' && parties.notClosed === 0) return;
    const next = stateOf(parties);
    if (next === state) return;
    const from = state;
    state = next;
    if (from === 'closed') openedBy = figuresOf(window, now);
    if (next === 'closed') window.clear();
    onChange?.({ from, to: next, ...reachOf(parties) });
  };

  const open = (row: number, now: number): void => parties.openUntil(row, now + options.cooldownMs, now);

  const close = (row: number, now: number): void => {
    parties.served(row, now, true);
    parties.become(row, KIND.closed, now);
  };

  const trust = (row: number, now: number): void => {
    parties.become(row, KIND.closed, now);
    allowance.earn();
  };

  const probe = (row: number, now: number): Pass | undefined => {
    const { out, succeeded } = parties.probes.get(row) as Probes;
    dropExpired(out, now);
    if (out.size + succeeded >= options.probes) return undefined;
    const place: Probe = { expiresAtMs: now + options.probeTimeoutMs };
    out.add(place);
    return new Pass(heard, row, parties.bornOf(row), place, true);
  };

  const enter = (row: number, now: number): Pass | undefined => {
    const kind = parties.kindOf(row);
    const warned = (): boolean => parties.othersFail(row, CAREFUL_FROM);
    if (kind === KIND.closed) {
      const cold = parties.isCold(row, now);
      if (!cold || !warned()) return new Pass(heard, row, parties.bornOf(row), undefined, cold);
      if (!allowance.take(now)) return undefined;
      parties.become(row, KIND.careful, now);
    } else if (kind === KIND.careful && !warned()) {
      parties.become(row, KIND.closed, now);
      return new Pass(heard, row, parties.bornOf(row), undefined, true);
    } else if (kind === KIND.open) {
      if (now < parties.retryAtOf(row)) return undefined;
      parties.become(row, KIND.half_open, now);
    }
    return probe(row, now);
  };

  const failsWithOthers = (row: number, now: number): boolean =>
    parties.runOf(row) >= RUN && now - parties.okAtOf(row) >= RUN_LASTS_MS && parties.othersFail(row, 1);

  const closedVerdict = (row: number, failed: boolean, now: number): void => {
    const careful = parties.kindOf(row) === KIND.careful;
    parties.note(row, failed, now);
    if (
      parties.failsBy(row, options.failurePercent, options.minimumCalls) ||
      (failed && (careful || failsWithOthers(row, now)))
    )
      open(row, now);
    else if (careful) trust(row, now);
  };

  const probeVerdict = (row: number, place: Probe, failed: boolean, now: number): void => {
    const probes = parties.probes.get(row) as Probes;
    dropExpired(probes.out, now);
    if (!probes.out.delete(place)) return;
    if (failed) open(row, now);
    else if (++probes.succeeded >= options.probes) close(row, now);
  };

  /** The gateway's own calls are served: whoever has waited its cooldown need not find out by a call of its own. */
  const ownVerdict = (failed: boolean, now: number): void => {
    ownSuccesses = failed ? 0 : ownSuccesses + 1;
    if (ownSuccesses < options.probes) return;
    for (const row of [...parties.activeRows()])
      if (parties.kindOf(row) >= KIND.half_open && parties.retryAtOf(row) <= now) close(row, now);
  };

  const heard = (pass: Pass, what: Verdict | 'answers'): void => {
    const { row, place } = pass;
    if (parties.bornOf(row) !== pass.born) return;
    const kind = parties.kindOf(row);
    if (what === 'ignore') {
      if (place !== undefined) parties.probes.get(row)?.out.delete(place);
      return;
    }
    const now = clock.monotonic();
    if (what === 'answers') {
      if (kind === KIND.careful || (kind === KIND.closed && parties.isCold(row, now))) parties.served(row, now, false);
      if (kind === KIND.careful) trust(row, now);
      return;
    }
    const failed = what === 'fail';
    if (kind === KIND.half_open) {
      parties.touchRow(row, now);
      if (place !== undefined) probeVerdict(row, place, failed, now);
    } else {
      window.add(failed ? 1 : 0, failed ? 0 : 1, now);
      closedVerdict(row, failed, now);
    }
    if (row === ownRow && parties.nameOf(row) === OWN_PARTY) ownVerdict(failed, now);
    look(now);
  };

  return {
    tryEnter(party) {
      const known = parties.find(party);
      // Where nobody was heard of lately nobody warns, so that the latest time is as good as the clock's.
      if (known !== NONE && parties.kindOf(known) === KIND.closed && !parties.isCold(known, parties.latestMs))
        return new Pass(heard, known, parties.bornOf(known), undefined, false);
      const now = clock.monotonic();
      const row = parties.touch(party, now);
      if (party === OWN_PARTY) ownRow = row;
      const pass = enter(row, now);
      look(now);
      return pass;
    },
    waitMs(party) {
      const row = parties.find(party);
      if (row === NONE || parties.kindOf(row) === KIND.closed) return 0;
      const waitMs = parties.kindOf(row) === KIND.open ? parties.retryAtOf(row) - clock.monotonic() : 0;
      return waitMs > 0 ? waitMs : SOON_MS;
    },
    report() {
      const now = clock.monotonic();
      look(now);
      const { failures, calls } = state === 'closed' ? figuresOf(window, now) : openedBy;
      const retryAtMs = state === 'closed' ? undefined : firstRetry(parties, now);
      return {
        // Who has cooled down is half open, although it makes the step only with its next call.
        state: state === 'open' && retryAtMs === undefined ? 'half_open' : state,
        failurePercent: calls === 0 ? 0 : (failures * 100) / calls,
        calls,
        retryAtMs: retryAtMs === undefined ? undefined : clock.now() + (retryAtMs - now),
        ...reachOf(parties),
      };
    },
    configure(next) {
      if (next.windowMs !== options.windowMs) window = new EventWindow(next.windowMs);
      parties.configure(next.windowMs, countedMs(next));
      options = next;
    },
  };
}

/** How long a silent party is counted: for its verdicts, or until it has had the time to probe. */
function countedMs({ windowMs, cooldownMs }: BreakerOptions): number {
  return Math.max(windowMs, cooldownMs + RECENT_MS);
}

function stateOf({ active, notClosed, open, evidence, failing }: Parties): BreakerStateKind {
  if (notClosed === 0) return 'closed';
  const down =
    2 * notClosed > active || (notClosed >= CAREFUL_FROM && failing >= CAREFUL_FROM && 2 * failing >= evidence);
  if (!down) return 'partly_open';
  return open > 0 ? 'open' : 'half_open';
}

function reachOf(parties: Parties): BreakerReach {
  const own = parties.find(OWN_PARTY);
  let tenants = parties.active;
  let tenantsOpen = parties.notClosed;
  if (own !== NONE && parties.isCounted(own)) {
    tenants -= 1;
    if (parties.kindOf(own) >= KIND.half_open) tenantsOpen -= 1;
  }
  const openFor: string[] = [];
  if (tenantsOpen > 0)
    for (const row of parties.activeRows()) {
      if (parties.kindOf(row) < KIND.half_open || row === own) continue;
      openFor.push(parties.nameOf(row));
      if (openFor.length === Math.min(NAMED, tenantsOpen)) break;
    }
  return { tenants, tenantsOpen, openFor };
}

/** When the first of those that still wait may probe; undefined where nobody waits. */
function firstRetry(parties: Parties, nowMs: number): number | undefined {
  let first: number | undefined;
  for (const row of parties.activeRows()) {
    const retryAtMs = parties.retryAtOf(row);
    if (parties.kindOf(row) !== KIND.open || retryAtMs <= nowMs) continue;
    first = Math.min(first ?? Infinity, retryAtMs);
  }
  return first;
}

function figuresOf(window: EventWindow, nowMs: number): { readonly failures: number; readonly calls: number } {
  const failures = window.first(nowMs);
  return { failures, calls: failures + window.second(nowMs) };
}

/** A class, so that its functions are made once and not per call. */
class Pass implements BreakerPass {
  readonly #heard: (pass: Pass, what: Verdict | 'answers') => void;
  #answered = false;
  readonly row: number;
  /** The row's own count of states when it was given out. */
  readonly born: number;
  /** The place of a probe that it holds. */
  readonly place: Probe | undefined;
  /** The party had no evidence of its own: the first content is some. */
  readonly #cold: boolean;

  constructor(
    heard: (pass: Pass, what: Verdict | 'answers') => void,
    row: number,
    born: number,
    place: Probe | undefined,
    cold: boolean,
  ) {
    this.#cold = cold;
    this.#heard = heard;
    this.row = row;
    this.born = born;
    this.place = place;
  }

  get probe(): boolean {
    return this.place !== undefined;
  }

  answers(): void {
    if (this.#cold && !this.#answered) this.#heard(this, 'answers');
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
    this.#heard(this, verdict);
  }
}

function dropExpired(probes: Set<Probe>, nowMs: number): void {
  for (const probe of probes) if (probe.expiresAtMs <= nowMs) probes.delete(probe);
}
