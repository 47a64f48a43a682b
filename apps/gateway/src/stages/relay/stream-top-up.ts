import { priceClass, type AdmissionLease, type LimitRefusal, type LimitStore, type Price } from '@sluice/contracts';

/** A step is at least this many tokens, so that a long stream asks the store seldom. */
const STEP_TOKENS = 64;
/** Near the end of a quota smaller steps are tried, down to this. */
const LAST_STEP_TOKENS = 8;
/** More is reserved when this share of what is reserved has been produced. */
const ASK_AT = 0.9;

export interface StreamTopUpDeps {
  readonly limits: Pick<LimitStore, 'topUp'>;
  readonly lease: AdmissionLease;
  /** What the lease holds for output so far, tokens. */
  readonly reservedTokens: number;
  readonly charsPerToken: number;
  readonly price: Price;
  /** A hard quota has no room for more; called at most once. */
  readonly onExhausted: (refusal: LimitRefusal) => void;
  /** The store failed: the stream goes on, the settlement trues it up. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Keeps the reservation of a running stream ahead of what it has produced, in steps of half of what is reserved. Nearly
 * every buffer costs one comparison; one step is under way at a time, whatever the store takes to answer.
 */
export class StreamTopUp {
  readonly #deps: StreamTopUpDeps;
  #reserved: number;
  /** Characters from which on more is asked for. */
  #askAt: number;

  constructor(deps: StreamTopUpDeps) {
    this.#deps = deps;
    this.#reserved = deps.reservedTokens;
    this.#askAt = this.#threshold();
  }

  /** @param outputChars all that the stream has produced so far. */
  seen(outputChars: number): void {
    if (outputChars < this.#askAt) return;
    this.#askAt = Infinity;
    const produced = Math.ceil(outputChars / this.#deps.charsPerToken);
    this.#ask(Math.max(STEP_TOKENS, produced - this.#reserved + STEP_TOKENS, Math.ceil(this.#reserved / 2)));
  }

  #threshold(): number {
    return this.#reserved * ASK_AT * this.#deps.charsPerToken;
  }

  #ask(tokens: number): void {
    const { limits, lease, price, onFault } = this.#deps;
    try {
      const answer = limits.topUp(lease, {
        inputTokens: 0,
        outputTokens: tokens,
        costNanoUsd: priceClass(tokens, price.outputPicoUsd),
      });
      if (answer instanceof Promise) answer.then((refusal) => this.#answered(tokens, refusal), onFault);
      else this.#answered(tokens, answer);
    } catch (error) {
      onFault(error);
    }
  }

  #answered(tokens: number, refusal: LimitRefusal | undefined): void {
    if (refusal === undefined) {
      this.#reserved += tokens;
      this.#askAt = this.#threshold();
    } else if (tokens > LAST_STEP_TOKENS) {
      this.#ask(Math.max(LAST_STEP_TOKENS, Math.floor(tokens / 2)));
    } else {
      this.#deps.onExhausted(refusal);
    }
  }
}
