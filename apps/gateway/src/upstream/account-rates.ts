import type { Clock, Credential, RateLimits } from '@sluice/contracts';
import type { GateBlock, GateUse, SlotGate, SlotRequest } from '@sluice/limits';
import { LearnedLimit } from './learned-limit.ts';
import { RateMeter } from './rate-meter.ts';

/** Requests and tokens per minute; a meter where there is a limit. */
interface Meters {
  requests: RateMeter | undefined;
  tokens: RateMeter | undefined;
}

interface ModelRates extends Meters {
  readonly learned: LearnedLimit;
  /** What the provider's own headers say. */
  told: RateLimits;
}

/** A limit that is kept now, for those who look at it. */
export interface RateInForce {
  /** Undefined where it is the whole account's. */
  readonly model: string | undefined;
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  /** `configured`, `told` by the provider's headers, or `learned` from its refusals. */
  readonly from: 'configured' | 'told' | 'learned';
}

/**
 * Requests and tokens per minute of one account at a provider: of the whole account as configured, of each model as the
 * provider's headers tell or its refusals teach. Nothing above them is sent: it waits in the fair queue of the account's
 * slots, which shares the rate by weight. Each gateway counts its own.
 */
export class AccountRates implements SlotGate {
  readonly #clock: Clock;
  readonly #all: Meters = { requests: undefined, tokens: undefined };
  readonly #models = new Map<string, ModelRates>();
  #credential: Credential;
  /** There is, or was, a limit; without one nothing is counted. */
  #limited = false;

  constructor(credential: Credential, clock: Clock) {
    this.#credential = credential;
    this.#clock = clock;
    this.resize(credential);
  }

  /** The limits of a new configuration; what was used stays. */
  resize(credential: Credential): void {
    this.#credential = credential;
    const now = this.#clock.monotonic();
    this.#limited ||= credential.requestsPerMinute !== undefined || credential.tokensPerMinute !== undefined;
    this.#all.requests = withLimit(this.#all.requests, credential.requestsPerMinute, now);
    this.#all.tokens = withLimit(this.#all.tokens, credential.tokensPerMinute, now);
  }

  /** Until so much of a model may be sent if nobody else waits, milliseconds; 0 when it may be now. */
  waitMs(model: string, tokens: number): number {
    if (!this.#limited) return 0;
    const now = this.#clock.monotonic();
    return Math.max(waitOf(this.#all, tokens, now), waitOf(this.#metersOf(model, now), tokens, now));
  }

  blocks({ model = '', costTokens }: SlotRequest): GateBlock | undefined {
    if (!this.#limited) return undefined;
    const now = this.#clock.monotonic();
    const allMs = waitOf(this.#all, costTokens, now);
    const modelMs = waitOf(this.#metersOf(model, now), costTokens, now);
    return allMs > 0 || modelMs > 0 ? { waitMs: Math.max(allMs, modelMs), all: allMs > 0 } : undefined;
  }

  take({ model = '', costTokens }: SlotRequest): GateUse | undefined {
    if (!this.#limited) return undefined;
    const now = this.#clock.monotonic();
    const meters = [this.#all, this.#metersOf(model, now)];
    let second = 0;
    let counted = costTokens;
    for (const { requests, tokens } of meters) {
      if (requests !== undefined) second = requests.add(1, now);
      if (tokens !== undefined) second = tokens.add(counted, now);
    }
    const correct = (requestsBy: number, tokensBy: number): void => {
      for (const { requests, tokens } of meters) {
        if (requestsBy !== 0) requests?.change(second, requestsBy);
        tokens?.change(second, tokensBy);
      }
    };
    return {
      giveBack: () => correct(-1, -counted),
      trueUp: (real) => {
        correct(0, real - counted);
        counted = real;
      },
    };
  }

  /** The provider served a call of the model. */
  served(model: string): void {
    this.#modelOf(model).learned.served(this.#clock.monotonic());
  }

  /** The provider refused the rate of the model to more than one tenant, or says that nothing of it remains. */
  limited(model: string): void {
    this.#limited = true;
    this.#modelOf(model).learned.limited(this.#clock.monotonic());
  }

  /** Others are served call after call while some are limited: what was learned of the model was not the account's. */
  unlimited(model: string): void {
    this.#models.get(model)?.learned.forget();
  }

  /** What an answer's headers say of the model's limits. */
  told(model: string, limits: RateLimits): void {
    this.#limited ||= limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined;
    this.#modelOf(model).told = limits;
  }

  /** Every limit that is kept now. */
  inForce(): RateInForce[] {
    const now = this.#clock.monotonic();
    const { requestsPerMinute, tokensPerMinute } = this.#credential;
    const found: RateInForce[] = [];
    if (requestsPerMinute !== undefined || tokensPerMinute !== undefined)
      found.push({ model: undefined, requestsPerMinute, tokensPerMinute, from: 'configured' });
    for (const [model, { learned, told }] of this.#models) {
      const perMinute = learned.perMinute(now);
      if (told.requestsPerMinute !== undefined || told.tokensPerMinute !== undefined)
        found.push({
          model,
          requestsPerMinute: told.requestsPerMinute,
          tokensPerMinute: told.tokensPerMinute,
          from: 'told',
        });
      if (perMinute !== undefined)
        found.push({ model, requestsPerMinute: Math.floor(perMinute), tokensPerMinute: undefined, from: 'learned' });
    }
    return found;
  }

  #metersOf(model: string, nowMs: number): Meters {
    const rates = this.#models.get(model);
    if (rates === undefined) return NO_METERS;
    const { learned, told } = rates;
    rates.requests = withLimit(rates.requests, least(told.requestsPerMinute, learned.perMinute(nowMs)), nowMs);
    rates.tokens = withLimit(rates.tokens, told.tokensPerMinute, nowMs);
    return rates;
  }

  #modelOf(model: string): ModelRates {
    let rates = this.#models.get(model);
    if (rates === undefined) {
      rates = { learned: new LearnedLimit(), told: {}, requests: undefined, tokens: undefined };
      this.#models.set(model, rates);
    }
    return rates;
  }
}

const NO_METERS: Meters = { requests: undefined, tokens: undefined };

function withLimit(meter: RateMeter | undefined, limit: number | undefined, nowMs: number): RateMeter | undefined {
  if (limit === undefined) return undefined;
  if (meter === undefined) return new RateMeter(limit, nowMs);
  meter.setLimit(limit, nowMs);
  return meter;
}

function waitOf({ requests, tokens }: Meters, amount: number, nowMs: number): number {
  const requestsMs = requests === undefined ? 0 : requests.waitMs(1, nowMs);
  return tokens === undefined ? requestsMs : Math.max(requestsMs, tokens.waitMs(amount, nowMs));
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
