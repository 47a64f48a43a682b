import type { TokenUsage, TokenClass } from './usage.ts';
import { TOKEN_CLASSES } from './usage.ts';
import type { Price } from './catalogue.ts';

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

/**
 * Sums the priced classes of a call; each class is rounded on its own, the total is their sum. Result in
 * nanodollars.
 */
export function priceUsage(usage: TokenUsage, price: Price): number {
  let total = 0;
  for (const tokenClass of TOKEN_CLASSES) total += priceClass(usage[tokenClass], classPrice(price, tokenClass));
  return total;
}

/** Picodollars per token of a class; classes without a price of their own cost what their parent class costs. */
export function classPrice(price: Price, tokenClass: TokenClass): number {
  switch (tokenClass) {
    case 'input':
      return price.inputPicoUsd;
    case 'output':
      return price.outputPicoUsd;
    case 'cache_read':
      return price.cacheReadPicoUsd ?? price.inputPicoUsd;
    case 'cache_write':
      return price.cacheWritePicoUsd ?? price.inputPicoUsd;
    case 'reasoning':
      return price.reasoningPicoUsd ?? price.outputPicoUsd;
    case 'audio':
      return price.audioPicoUsd ?? price.outputPicoUsd;
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
