import type { Price, TierPrice } from './catalogue.ts';
import { inputTokens, type ServedUse, type TokenUsage } from './usage.ts';

/** Largest amount that JSON carries as a number. */
export const MAX_SAFE_NANO_USD = Number.MAX_SAFE_INTEGER;

/**
 * Prices one class: tokens × picodollars, rounded half up to whole nanodollars.
 * Exact for every input: a product above 2^53 is computed with BigInt.
 *
 * @throws RangeError when the amount does not fit in 2^53 nanodollars (about nine million dollars).
 */
export function priceClass(tokens: number, picoUsdPerToken: number): number {
  const product = tokens * picoUsdPerToken;
  if (product <= Number.MAX_SAFE_INTEGER - 500) return Math.floor((product + 500) / 1000);
  const nano = (BigInt(tokens) * BigInt(picoUsdPerToken) + 500n) / 1000n;
  if (nano > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('amount exceeds 2^53 nanodollars');
  return Number(nano);
}

/** The figures of a price that hold for one call: those of its tier, and of the length of its input. */
export type Rates = Omit<Price, 'longContext' | 'serviceTiers' | 'toolNanoUsd'>;

/**
 * What a call costs, nanodollars: every class by its own price, the sum rounded once, half up.
 *
 * A tier that the price does not know costs what the standard way costs, a tool without a price nothing; who bills
 * asks `unpricedOf` before.
 *
 * @param served what of the use has a price of its own.
 * @throws RangeError when the amount does not fit in 2^53 nanodollars.
 */
export function priceUsage(usage: TokenUsage, price: Price, served?: ServedUse): number {
  const rates = ratesOf(price, inputTokens(usage), served?.tier);
  const sum = new PicoSum();
  const longLived = part(served?.cache_write_1h, usage.cache_write);
  const heard = part(served?.audio_input, usage.audio);
  const shown = part(served?.image_input, usage.input);
  const drawn = part(served?.image_output, usage.output);
  const { inputPicoUsd, outputPicoUsd, cacheWritePicoUsd = inputPicoUsd, audioPicoUsd = outputPicoUsd } = rates;
  sum.add(usage.input - shown, inputPicoUsd);
  sum.add(shown, rates.imageInputPicoUsd ?? inputPicoUsd);
  sum.add(usage.cache_read, rates.cacheReadPicoUsd ?? inputPicoUsd);
  sum.add(usage.cache_write - longLived, cacheWritePicoUsd);
  sum.add(longLived, rates.cacheWrite1hPicoUsd ?? cacheWritePicoUsd);
  sum.add(usage.output - drawn, outputPicoUsd);
  sum.add(drawn, rates.imageOutputPicoUsd ?? outputPicoUsd);
  sum.add(usage.reasoning, rates.reasoningPicoUsd ?? outputPicoUsd);
  sum.add(usage.audio - heard, audioPicoUsd);
  sum.add(heard, rates.audioInputPicoUsd ?? audioPicoUsd);
  if (served?.tools !== undefined)
    for (const [tool, uses] of Object.entries(served.tools))
      sum.add(uses, (toolPrice(price, tool) ?? 0) * PICO_PER_NANO);
  return sum.nanoUsd();
}

/**
 * The figures that hold for a call. Where its input is longer than a threshold of the price, the whole call costs what
 * the highest threshold below it says, as vendors charge it.
 *
 * @param tier undefined for the standard way; an unknown one has the standard figures.
 */
export function ratesOf(price: Price, inputTokens: number, tier?: string): Rates {
  const tiered = tier === undefined ? undefined : tierPrice(price, tier);
  const chosen = tiered ?? price;
  let rates: Rates = chosen;
  let above = 0;
  for (const step of chosen.longContext ?? []) {
    if (inputTokens <= step.aboveInputTokens || step.aboveInputTokens < above) continue;
    above = step.aboveInputTokens;
    rates = step;
  }
  return rates;
}

/** Tools that providers run without a charge for their use, beside the tokens that they add. */
const FREE_TOOLS: ReadonlySet<string> = new Set(['web_fetch', 'tool_search']);

/**
 * What of a call has no price, in words for a refusal or an alert; empty when all of it has one.
 *
 * @param served what was used, or what a request asks for (any count above 0 stands for it).
 */
export function unpricedOf(price: Price, served: ServedUse | undefined): string[] {
  if (served === undefined) return [];
  const missing: string[] = [];
  const { tier } = served;
  const chosen = tier === undefined ? price : tierPrice(price, tier);
  if (chosen === undefined) missing.push(`the service tier '${tier}'`);
  const rates: Rates = chosen ?? price;
  if ((served.cache_write_1h ?? 0) > 0 && rates.cacheWrite1hPicoUsd === undefined)
    missing.push('cache writes that are kept for an hour');
  if ((served.audio_input ?? 0) > 0 && rates.audioInputPicoUsd === undefined && rates.audioPicoUsd === undefined)
    missing.push('audio input');
  if ((served.image_output ?? 0) > 0 && rates.imageOutputPicoUsd === undefined) missing.push('images as output');
  for (const [tool, uses] of Object.entries(served.tools ?? {}))
    if (uses > 0 && !FREE_TOOLS.has(tool) && toolPrice(price, tool) === undefined) missing.push(`the tool '${tool}'`);
  return missing;
}

function tierPrice({ serviceTiers }: Price, tier: string): TierPrice | undefined {
  return serviceTiers !== undefined && Object.hasOwn(serviceTiers, tier) ? serviceTiers[tier] : undefined;
}

function toolPrice({ toolNanoUsd }: Price, tool: string): number | undefined {
  return toolNanoUsd !== undefined && Object.hasOwn(toolNanoUsd, tool) ? toolNanoUsd[tool] : undefined;
}

/** No more of a class than the class has. */
function part(count: number | undefined, whole: number): number {
  return count === undefined ? 0 : Math.min(count, whole);
}

const PICO_PER_NANO = 1_000;

/** A sum of products, exact: plain numbers while they are, BigInt from there on. */
class PicoSum {
  #sum = 0;
  #large = 0n;

  add(count: number, picoUsd: number): void {
    const product = count * picoUsd;
    if (this.#sum + product <= Number.MAX_SAFE_INTEGER - PICO_PER_NANO) this.#sum += product;
    else this.#large += BigInt(count) * BigInt(picoUsd);
  }

  nanoUsd(): number {
    if (this.#large === 0n) return Math.floor((this.#sum + 500) / PICO_PER_NANO);
    const nano = (this.#large + BigInt(this.#sum) + 500n) / 1000n;
    if (nano > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('amount exceeds 2^53 nanodollars');
    return Number(nano);
  }
}

/** Nanodollars as a decimal string of dollars without rounding, for sums: `1234567890n` is `1.23456789`. */
export function nanoUsdToDecimal(nano: bigint | number): string {
  const value = BigInt(nano);
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`;
}
