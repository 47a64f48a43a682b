import { priceUsage, type Model, type Policy, type Price, type PriceBook, type TokenUsage } from '@sluice/contracts';

/**
 * What a customer is billed for a model, or the stated default of its policy; undefined means that the policy
 * refuses.
 */
export function billedPriceOf(book: PriceBook, model: Model, policy: Policy): Price | undefined {
  const listed = book.prices[model.id];
  if (listed !== undefined) return listed;
  if (policy.unknownPrice.mode === 'refuse') return undefined;
  const { picoUsdPerToken } = policy.unknownPrice;
  return { inputPicoUsd: picoUsdPerToken, outputPicoUsd: picoUsdPerToken };
}

/** Cost of an expected use at the dearest of some prices, nanodollars. */
export function dearestCost(prices: readonly Price[], inputTokens: number, outputTokens: number): number {
  const expected: TokenUsage = {
    input: inputTokens,
    cache_read: 0,
    cache_write: 0,
    output: outputTokens,
    reasoning: 0,
    audio: 0,
  };
  let dearest = 0;
  for (const price of prices) dearest = Math.max(dearest, priceUsage(expected, price));
  return dearest;
}
