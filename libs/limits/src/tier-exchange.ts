import { meterUnits } from './admission.ts';
import { FIRST_BATCH, type TierLevel } from './tier-level.ts';
import type { QuotaState } from './level-state.ts';
import { average, type WindowLoan } from './window-loan.ts';

/** A request that the authority is to judge; the numbers are the scripts'. */
export const ASK = { admit: 1, topUp: 2, queue: 3, take: 4 } as const;
export type Ask = (typeof ASK)[keyof typeof ASK];

/** What the authority found: 0 is granted. */
export const VERDICT = { granted: 0, quota: 1, inFlight: 2, rate: 3, queued: 4 } as const;

export interface Judged {
  readonly ask: Ask;
  readonly levels: readonly TierLevel[];
  readonly input: number;
  readonly output: number;
  readonly cost: number;
}

export interface ExchangeOptions {
  readonly number: number;
  readonly leaseShare: number;
  readonly monotonicMs: number;
  /** Ask for the steps of all windows. */
  readonly full: boolean;
  /** Which settled calls the reported use holds. */
  readonly settled: string;
}

/**
 * The dynamic part of an exchange: for each level what this gateway holds (absolute, so that saying it twice does
 * no harm) and gives back, then the requests. Sets the levels to what is left to them while the exchange is under
 * way. Levels with a request hand in everything that is free, so that the authority judges by the whole.
 */
export function writeExchange(
  levels: readonly TierLevel[],
  asked: readonly Judged[],
  options: ExchangeOptions,
): string {
  const asking = new Set(asked.flatMap((request) => request.levels));
  return JSON.stringify({
    n: options.number,
    F: options.full ? 1 : 0,
    C: options.settled,
    L: levels.map((level) => reportOf(level, asking.has(level) || level.handIn, options)),
    Q: asked.map(({ ask, levels: of, input, output, cost }) => [
      ask,
      of.map((level) => levels.indexOf(level) + 1),
      input,
      output,
      cost,
    ]),
  });
}

function reportOf(level: TierLevel, everything: boolean, { number, leaseShare, monotonicMs }: ExchangeOptions): object {
  if (level.handIn) level.batch = FIRST_BATCH;
  // A level that is only looked at, or gives all back, is lent nothing: what one gateway holds, the others see as
  // taken.
  const resting = level.handIn || (!everything && !level.dirty);
  const wants = level.aim(resting ? 0 : leaseShare, monotonicMs);
  const { shares, share } = level;
  const kept = (free: number, want: number): number =>
    everything || share ? 0 : Math.max(0, resting ? free : Math.min(free, want));
  // Of the local share only what is missing from it is told: the authority's own bucket has filled meanwhile.
  const requestsLeft = share ? level.requestsFree - shares.requests : level.requestsFree;
  const tokensLeft = share ? level.tokensFree - shares.tokens : level.tokensFree;
  const requestsKept = kept(level.requestsFree, wants.requests);
  const tokensKept = kept(level.tokensFree, wants.tokens);
  const slotsKept = kept(level.slotsFree, wants.slots);
  level.requestsFree = requestsKept;
  level.tokensFree = tokensKept;
  level.slotsFree = slotsKept;
  level.slotsSent = level.inFlight + slotsKept;
  level.windowsSent = level.windows;
  const windows = level.windows.map((window) => {
    const loan = window.loan as WindowLoan;
    const want =
      resting || leaseShare === 0 || !Number.isFinite(window.threshold) ? 0 : Math.ceil(level.batch * loan.typical);
    const free = kept(loan.free, want);
    loan.free = free;
    loan.heldSent = loan.out + free;
    const { losses } = level.tenant;
    const remembered = loan.rememberedHeard === losses ? [] : rememberedSteps(level, window, loan).flat();
    loan.rememberedSent = losses;
    return {
      h: loan.heldSent,
      u: loan.report(number),
      b: remembered,
      w: Math.max(0, want - free),
      f: loan.late ? 0 : 1,
    };
  });
  level.share = false;
  level.dirty = false;
  level.handIn = false;
  const ask = (want: number, free: number): number => (resting ? 0 : Math.max(0, want - free));
  return {
    r: requestsLeft - requestsKept,
    t: tokensLeft - tokensKept,
    s: level.slotsSent,
    q: level.queued,
    R: ask(wants.requests, requestsKept),
    T: ask(wants.tokens, tokensKept),
    S: ask(wants.slots, slotsKept),
    w: windows,
  };
}

/**
 * The steps of a window as this gateway last knew them, without what it reports as use: for an authority that knows
 * none.
 */
function rememberedSteps(level: TierLevel, window: QuotaState, loan: WindowLoan): [startMs: number, used: number][] {
  if (!level.loaded) return window.restored.map(([startMs, used]) => [startMs, used]);
  const steps = window.counter.current();
  let own = loan.pending;
  for (let i = steps.length - 1; i >= 0 && own > 0; i--) {
    const step = steps[i] as [number, number];
    const taken = Math.min(own, step[1]);
    step[1] -= taken;
    own -= taken;
  }
  return steps.filter(([, used]) => used > 0);
}

/** Books a granted request at this gateway. */
export function book({ ask, levels, input, output, cost }: Judged): void {
  for (const level of levels) {
    if (ask === ASK.admit) {
      level.inFlight++;
      level.slotsSent++;
    }
    if (ask === ASK.queue) level.queued++;
    if (ask === ASK.admit || ask === ASK.topUp) {
      for (const window of level.windowsSent) {
        const loan = window.loan as WindowLoan;
        const units = meterUnits(window.meter, input, output, cost);
        loan.out += units;
        loan.heldSent += units;
        loan.typical = average(loan.typical, units);
      }
      level.typicalTokens = average(level.typicalTokens, input + output);
    }
  }
}

export interface ReplyHead {
  readonly serverNowMs: number;
  /** The authority still knew this gateway; else it had given up what was held. */
  readonly known: boolean;
  readonly gateways: number;
  readonly verdicts: readonly number[];
  /** Where the levels begin. */
  readonly at: number;
}

export function readHead(numbers: readonly number[]): ReplyHead {
  const count = numbers[3] ?? 0;
  return {
    serverNowMs: numbers[0] ?? NaN,
    known: numbers[1] === 1,
    gateways: numbers[2] ?? 1,
    verdicts: numbers.slice(4, 4 + count),
    at: 4 + count,
  };
}

/**
 * Brings one level to what the authority told: mirrors the whole, adds what was lent. The level's own calls must
 * stand as the verdicts made them. Gives the place of the next level.
 */
export function readLevel(
  level: TierLevel,
  numbers: readonly number[],
  from: number,
  number: number,
  serverNowMs: number,
  monotonicMs: number,
): number {
  let at = from;
  const next = (): number => numbers[at++] ?? NaN;
  const [requests, tokens, slots, queued, scarce, requestsLent, tokensLent, slotsLent] = [
    next(),
    next(),
    next(),
    next(),
    next(),
    next(),
    next(),
    next(),
  ];
  level.requestsFree += requestsLent;
  level.tokensFree += tokensLent;
  level.requests?.set(requests + level.requestsFree, monotonicMs);
  level.tokens?.set(tokens + level.tokensFree, monotonicMs);
  level.slotsFree = level.slotsSent + slotsLent - level.inFlight;
  level.bulkhead.inFlight = slots - level.slotsFree;
  level.bulkhead.queued = queued;
  level.lowRequests = Math.floor(level.requestsFree / 2);
  level.lowTokens = Math.floor(level.tokensFree / 2);
  for (const window of level.windowsSent) {
    const loan = window.loan as WindowLoan;
    const [used, reserved, lent, founded, steps] = [next(), next(), next(), next(), next()];
    window.founded = founded === 1;
    loan.confirm(number);
    loan.late = false;
    loan.rememberedHeard = loan.rememberedSent;
    loan.free = loan.heldSent + lent - loan.out - loan.pending;
    loan.low = Number.isFinite(window.threshold) ? Math.floor(loan.free / 2) : -Infinity;
    if (steps >= 0) {
      const pairs: [number, number][] = [];
      for (let i = 0; i < steps; i += 2) pairs.push([next(), next()]);
      window.counter.load(
        pairs.sort(([a], [b]) => a - b),
        serverNowMs,
      );
    }
    window.counter.loadTotal(used + loan.pending, serverNowMs);
    window.counter.reserved = reserved - loan.free - loan.pending;
  }
  level.loaded = true;
  level.unfounded = level.windows.some(({ founded }) => !founded);
  level.lentAtMs = requestsLent > 0 || tokensLent > 0 || slotsLent > 0 ? monotonicMs : level.lentAtMs;
  if (scarce === 1 && level.hasFree) {
    level.handIn = true;
    level.dirty = true;
  }
  return at;
}
