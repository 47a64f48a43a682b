import { finalUsage } from './final-usage.ts';

const reported = { input: 7, cache_read: 1, cache_write: 0, output: 2, reasoning: 0, audio: 0 };
const zero = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, audio: 0 };

describe('the abort policy', () => {
  it("a complete answer is billed by the provider's usage", () => {
    expect(
      finalUsage(
        { usage: reported, outputChars: 400, countedChars: 400, ended: true, finished: true, givenUp: false },
        () => 50,
      ),
    ).toEqual({
      abortCase: 'complete',
      usage: reported,
      usageSource: 'provider',
    });
  });
  it('explicit zero usage stays zero', () => {
    expect(
      finalUsage(
        { usage: zero, outputChars: 400, countedChars: 400, ended: true, finished: true, givenUp: false },
        () => 50,
      ),
    ).toEqual({
      abortCase: 'complete',
      usage: zero,
      usageSource: 'provider',
    });
  });
  it('a complete answer without usage is billed by estimate, not free', () => {
    expect(
      finalUsage(
        { usage: undefined, outputChars: 400, countedChars: 400, ended: true, finished: true, givenUp: false },
        () => 50,
      ),
    ).toEqual({
      abortCase: 'complete',
      usage: { ...zero, input: 50, output: 100 },
      usageSource: 'estimate',
    });
  });
  it('a cut answer is billed for the input and what arrived', () => {
    expect(
      finalUsage(
        { usage: undefined, outputChars: 40, countedChars: 40, ended: false, finished: false, givenUp: false },
        () => 50,
      ),
    ).toMatchObject({
      abortCase: 'partial',
      usage: { input: 50, output: 10 },
    });
  });
  it('a cut answer whose provider counted at its start is billed for the larger output', () => {
    expect(
      finalUsage(
        { usage: reported, outputChars: 40, countedChars: 0, ended: false, finished: false, givenUp: false },
        () => 50,
      ),
    ).toMatchObject({
      abortCase: 'partial',
      usage: { input: 7, cache_read: 1, output: 10 },
    });
  });
  it('a cut answer that the provider had finished and counted is billed by its count', () => {
    expect(
      finalUsage(
        { usage: reported, outputChars: 400, countedChars: 400, ended: false, finished: true, givenUp: false },
        () => 50,
      ),
    ).toEqual({
      abortCase: 'partial',
      usage: reported,
      usageSource: 'provider',
    });
  });
  it('a call that was given up before any content is billed its input, by whoever counted it', () => {
    const seen = { outputChars: 0, countedChars: 0, ended: false, finished: false, givenUp: true };
    expect(finalUsage({ ...seen, usage: undefined }, () => 50)).toEqual({
      abortCase: 'given_up',
      usage: { ...zero, input: 50 },
      usageSource: 'estimate',
    });
    expect(finalUsage({ ...seen, usage: reported }, () => 50)).toMatchObject({
      usage: reported,
      usageSource: 'provider',
    });
  });
  it('an answer of which nothing arrived because its provider failed is free', () => {
    expect(
      finalUsage(
        { usage: reported, outputChars: 0, countedChars: 0, ended: false, finished: false, givenUp: false },
        () => 50,
      ),
    ).toEqual({
      abortCase: 'no_bytes',
      usage: zero,
      usageSource: 'none',
    });
  });
});
