import { fitScale, standardise, TEXT_FEATURES, textFeatures } from './text-features.ts';

const of = (text: string): Record<string, number> =>
  Object.fromEntries(textFeatures(text).map((value, i) => [TEXT_FEATURES[i] as string, value]));
const QUESTION = 'Which of these is not a prime number?\nA. 2\nB. 9\nC. 11\nAnswer:';

describe('the features of a prompt', () => {
  it('see numbers, options, negations, code and requests to reason', () => {
    const features = of(QUESTION);
    expect(features.log_options).toBeCloseTo(Math.log1p(3), 12);
    expect(features.negation_cues).toBeCloseTo(Math.log1p(1), 12);
    expect(features.log_numbers).toBeCloseTo(Math.log1p(3), 12);
    expect(of('def f(x):\n  return x').code_cues).toBeGreaterThan(0);
    expect(of('Prove it step by step.').reasoning_cues).toBeCloseTo(Math.log1p(2), 12);
    expect(of('Grüße').non_ascii_share).toBeCloseTo(0.4, 12);
  });

  it('see what begins a line in small letters, and a fence of backticks once', () => {
    expect(of('Pick one:\na) 2\n(b) 9\nc: 11\nand so on').log_options).toBeCloseTo(Math.log1p(3), 12);
    expect(of('a. first').log_options).toBeCloseTo(Math.log1p(1), 12);
    expect(of('````x````').code_cues).toBeCloseTo(Math.log1p(2), 12);
  });

  it('do not move when only white space does', () => {
    expect(textFeatures(QUESTION.replaceAll(' ', '   ').replaceAll('\n', ' \n\n '))).toEqual(textFeatures(QUESTION));
  });

  it('are finite for an empty, an endless and a strange prompt', () => {
    for (const text of ['', ' \n ', 'x'.repeat(1e6), '\u0000\ud800'.repeat(50)])
      expect(textFeatures(text).every(Number.isFinite)).toBe(true);
  });

  it('become a context with a bias, standardised and clipped', () => {
    const scale = fitScale([
      [0, 1],
      [2, 1],
    ]);
    expect(standardise([2, 1], scale)).toEqual([1, 1, 0]);
    expect(standardise([100, 5], scale)).toEqual([1, 3, 0]);
    expect(() => standardise([Number.NaN, 1], scale)).toThrow('feature 0 is NaN');
    expect(() => standardise([1], scale)).toThrow('there are 1 features');
    expect(() => fitScale([])).toThrow(RangeError);
  });
});
