import {
  priceUsage,
  unpricedOf,
  zeroUsage,
  type Model,
  type Policy,
  type Price,
  type PriceBook,
  type Refusal,
  type ServedUse,
  type TierPrice,
} from '@sluice/contracts';

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

/**
 * Why what a call asks for has no price, by the policy's `unknownPrice`: the same as for a model without one. Where
 * the policy states a price for a token, tools are refused all the same, because they cost by the use.
 *
 * @param asked what the body asks for; undefined for an ordinary call.
 */
export function unpricedRefusal(
  price: Price,
  asked: ServedUse | undefined,
  { unknownPrice }: Policy,
  model: string,
): Refusal | undefined {
  const missing = unpricedOf(price, unknownPrice.mode === 'refuse' || asked === undefined ? asked : toolsOf(asked));
  if (missing.length === 0) return undefined;
  return {
    code: 'price_unknown',
    param: paramOf(asked as ServedUse),
    message: `The model '${model}' has no price for ${missing.join(', ')}, and this workspace does not allow unpriced use. Leave it out of the request, or ask your operator to add its price.`,
  };
}

/**
 * A price with what it lacks for a call at the policy's stated price, or at its own where that is higher. Unchanged
 * where nothing is missing, or the policy states none.
 */
export function withStatedPrice(price: Price, served: ServedUse | undefined, { unknownPrice }: Policy): Price {
  if (served === undefined || unknownPrice.mode === 'refuse' || unpricedOf(price, served).length === 0) return price;
  const stated = unknownPrice.picoUsdPerToken;
  const tier = served.tier === undefined ? price : (price.serviceTiers?.[served.tier] ?? atLeast(price, stated));
  const filled = filledWith(tier, stated);
  return served.tier === undefined
    ? { ...price, ...filled }
    : { ...price, serviceTiers: { ...price.serviceTiers, [served.tier]: filled } };
}

/** Cost of an expected use at the dearest of some prices, nanodollars. */
export function dearestCost(
  prices: readonly Price[],
  inputTokens: number,
  outputTokens: number,
  asked?: ServedUse,
): number {
  const expected = { ...zeroUsage(), input: inputTokens, output: outputTokens };
  let dearest = 0;
  for (const price of prices) dearest = Math.max(dearest, priceUsage(expected, price, asked));
  return dearest;
}

function toolsOf({ tools }: ServedUse): ServedUse {
  return tools === undefined ? {} : { tools };
}

function paramOf({ tier, cache_write_1h: hour, tools, audio_input: audio, image_output: image }: ServedUse): string {
  if (tier !== undefined)
    return tier.startsWith('fast') ? 'speed' : tier.startsWith('geo-') ? 'inference_geo' : 'service_tier';
  if (hour !== undefined) return 'cache_control';
  if (tools !== undefined) return 'tools';
  return audio === undefined && image === undefined ? 'model' : 'modalities';
}

function atLeast(
  { longContext: _long, serviceTiers: _tiers, toolNanoUsd: _tools, ...rates }: Price,
  stated: number,
): TierPrice {
  const raised: TierPrice = { ...rates };
  for (const name of Object.keys(rates) as (keyof typeof rates)[]) raised[name] = Math.max(rates[name] ?? 0, stated);
  return raised;
}

function filledWith<P extends Price | TierPrice>(rates: P, stated: number): P {
  const {
    inputPicoUsd: input,
    outputPicoUsd: output,
    cacheWritePicoUsd: write = input,
    cacheWrite1hPicoUsd = Math.max(write, stated),
    audioPicoUsd = Math.max(output, stated),
    imageOutputPicoUsd = Math.max(output, stated),
  } = rates;
  return { ...rates, cacheWrite1hPicoUsd, audioPicoUsd, imageOutputPicoUsd };
}
