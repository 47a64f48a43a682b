import fc from 'fast-check';
import { nanoUsdToDecimal, priceClass, priceUsage } from './money.ts';

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

  it('classes are rounded one by one and summed', () => {
    const usage = { input: 1, cache_read: 1, cache_write: 0, output: 1, reasoning: 0, audio: 0 };
    expect(priceUsage(usage, { inputPicoUsd: 500, outputPicoUsd: 500, cacheReadPicoUsd: 400 })).toBe(2);
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
