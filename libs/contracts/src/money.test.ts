import fc from 'fast-check';
import { Price } from './catalogue.ts';
import { nanoUsdToDecimal, priceClass, priceUsage, unpricedOf } from './money.ts';

describe('money', () => {
  it('a class is rounded half up to whole nanodollars', () => {
    expect(priceClass(1, 499)).toBe(0);
    expect(priceClass(1, 500)).toBe(1);
    expect(priceClass(1_000_000, 1_000_000)).toBe(1_000_000_000);
  });

  it('is exact for any number of tokens at any price', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 0, max: 1e9 }), (tokens, price) => {
        const exact = (BigInt(tokens) * BigInt(price) + 500n) / 1000n;
        fc.pre(exact <= BigInt(Number.MAX_SAFE_INTEGER));
        expect(priceClass(tokens, price)).toBe(Number(exact));
      }),
    );
  });

  it('refuses an amount that JSON cannot carry', () => {
    expect(() => priceClass(Number.MAX_SAFE_INTEGER, 1e9)).toThrow(RangeError);
  });

  it('the classes of a call are summed exactly and rounded once', () => {
    const usage = { input: 1, cache_read: 1, cache_write: 0, output: 1, reasoning: 0, audio: 0 };
    expect(priceUsage(usage, { inputPicoUsd: 500, outputPicoUsd: 500, cacheReadPicoUsd: 400 })).toBe(1);
    expect(priceUsage(usage, { inputPicoUsd: 500, outputPicoUsd: 500, cacheReadPicoUsd: 500 })).toBe(2);
  });

  it('a class without a price of its own costs what its parent class costs', () => {
    const usage = { input: 0, cache_read: 0, cache_write: 10, output: 0, reasoning: 10, audio: 0 };
    expect(priceUsage(usage, { inputPicoUsd: 1000, outputPicoUsd: 3000 })).toBe(10 + 30);
  });

  it('sums become decimal strings without rounding', () => {
    expect(nanoUsdToDecimal(1_234_567_890n)).toBe('1.23456789');
    expect(nanoUsdToDecimal(5)).toBe('0.000000005');
    expect(nanoUsdToDecimal(0)).toBe('0');
    expect(nanoUsdToDecimal(-1_500_000_000n)).toBe('-1.5');
    expect(nanoUsdToDecimal(12345678901234567890123n)).toBe('12345678901234.567890123');
  });
});

describe('the price of what was served', () => {
  const USAGE = { input: 1_000, cache_read: 0, cache_write: 100, output: 100, reasoning: 0, audio: 10 };
  const PRICE = Price.parse({
    inputPicoUsd: 3_000_000,
    outputPicoUsd: 15_000_000,
    cacheWritePicoUsd: 3_750_000,
    cacheWrite1hPicoUsd: 6_000_000,
    audioPicoUsd: 80_000_000,
    audioInputPicoUsd: 40_000_000,
    imageInputPicoUsd: 5_000_000,
    imageOutputPicoUsd: 30_000_000,
    longContext: [
      { aboveInputTokens: 500_000, inputPicoUsd: 9_000_000, outputPicoUsd: 30_000_000 },
      { aboveInputTokens: 200_000, inputPicoUsd: 6_000_000, outputPicoUsd: 22_500_000 },
    ],
    serviceTiers: {
      priority: {
        inputPicoUsd: 6_000_000,
        outputPicoUsd: 30_000_000,
        longContext: [{ aboveInputTokens: 200_000, inputPicoUsd: 12_000_000, outputPicoUsd: 45_000_000 }],
      },
    },
    toolNanoUsd: { web_search: 10_000_000 },
  });
  const plain = { ...USAGE, cache_write: 0, audio: 0 };

  it.each([
    ['nothing of the kind', plain, undefined, 1_000 * 3_000 + 100 * 15_000],
    ['a tier', plain, { tier: 'priority' }, 1_000 * 6_000 + 100 * 30_000],
    ['writes of an hour', USAGE, { cache_write_1h: 40 }, 3_000_000 + 60 * 3_750 + 40 * 6_000 + 1_500_000 + 10 * 80_000],
    ['speech that was heard', USAGE, { audio_input: 4 }, 3_000_000 + 100 * 3_750 + 1_500_000 + 6 * 80_000 + 4 * 40_000],
    ['images', plain, { image_input: 200, image_output: 30 }, 800 * 3_000 + 200 * 5_000 + 70 * 15_000 + 30 * 30_000],
    ['searches', plain, { tools: { web_search: 2, web_fetch: 9 } }, 3_000_000 + 1_500_000 + 2 * 10_000_000],
    ['an input at a threshold', { ...plain, input: 200_000 }, undefined, 200_000 * 3_000 + 100 * 15_000],
    [
      'an input above it, cached tokens too',
      { ...plain, input: 1, cache_read: 200_000 },
      undefined,
      200_001 * 6_000 + 100 * 22_500,
    ],
    ['an input above the next one', { ...plain, input: 500_001 }, undefined, 500_001 * 9_000 + 100 * 30_000],
    ['a long one in a tier', { ...plain, input: 300_000 }, { tier: 'priority' }, 300_000 * 12_000 + 100 * 45_000],
  ])('%s', (_what, usage, served, nanoUsd) => expect(priceUsage(usage, PRICE, served)).toBe(nanoUsd));

  it('never counts more of a class than the class has', () => {
    expect(priceUsage(plain, PRICE, { image_input: 5_000, cache_write_1h: 7 })).toBe(1_000 * 5_000 + 100 * 15_000);
  });

  it('what has no price is named', () => {
    expect(unpricedOf(PRICE, { tier: 'priority', tools: { web_search: 1, web_fetch: 1 } })).toEqual([]);
    expect(
      unpricedOf(
        { inputPicoUsd: 1, outputPicoUsd: 1 },
        { tier: 'flex', cache_write_1h: 1, audio_input: 1, image_output: 1, tools: { web_search: 1, constructor: 1 } },
      ),
    ).toEqual([
      "the service tier 'flex'",
      'cache writes that are kept for an hour',
      'audio input',
      'images as output',
      "the tool 'web_search'",
      "the tool 'constructor'",
    ]);
  });

  it('a price of before is a price still', () => {
    const before = { inputPicoUsd: 1, outputPicoUsd: 2, cacheReadPicoUsd: 3, audioPicoUsd: 4 };
    expect(Price.parse(before)).toEqual(before);
    expect(Price.safeParse({ ...before, longContext: [{ aboveInputTokens: 5, inputPicoUsd: 1 }] }).success).toBe(false);
    expect(Price.safeParse({ ...before, serviceTiers: { 'a b': before } }).success).toBe(false);
  });
});
