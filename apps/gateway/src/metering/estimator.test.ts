import { createEstimator } from './estimator.ts';

const usage = (input: number, output: number) => ({ input, cache_read: 0, cache_write: 0, output, reasoning: 0, audio: 0 });

describe('estimator', () => {
  it('starts from four bytes a token and the default output', () => {
    expect(createEstimator().expect('ws', 'm', 400, 1, undefined, 256)).toEqual({ inputTokens: 100, outputTokens: 256 });
  });

  it('moves towards what the provider counted, for that workspace and model only', () => {
    const estimator = createEstimator();
    for (let i = 0; i < 100; i += 1) estimator.observe('ws', 'm', 400, 1, usage(200, 20));
    expect(estimator.expect('ws', 'm', 400, 1, undefined, 256)).toEqual({ inputTokens: 200, outputTokens: 20 });
    expect(estimator.expect('other', 'm', 400, 1, undefined, 256)).toEqual({ inputTokens: 100, outputTokens: 256 });
  });

  it('never expects more output than the caller allows, and multiplies by the choices', () => {
    const estimator = createEstimator();
    expect(estimator.expect('ws', 'm', 40, 3, 10, 256).outputTokens).toBe(30);
    estimator.observe('ws', 'm', 40, 3, usage(10, 60));
    expect(estimator.expect('ws', 'm', 40, 1, undefined, 256).outputTokens).toBe(20);
  });
});
