import { createEstimator, type CallShape } from './estimator.ts';

const usage = (input: number, output: number) => ({
  input,
  cache_read: 0,
  cache_write: 0,
  output,
  reasoning: 0,
  audio: 0,
});
const shape = (more: Partial<CallShape> = {}): CallShape => ({
  workspace: 'ws',
  model: 'm',
  bodyBytes: 400,
  payloadTokens: 0,
  floorTokens: 0,
  choices: 1,
  maxOutputTokens: undefined,
  defaultOutputTokens: 256,
  ...more,
});

describe('estimator', () => {
  it('expects what the bytes count at least, whatever earlier calls have taught', () => {
    const estimator = createEstimator();
    const padded = shape({ bodyBytes: 960_000, floorTokens: 120_000 });
    for (let i = 0; i < 20; i++) estimator.observe(padded, usage(10, 5), 20);
    expect(estimator.expect(padded).inputTokens).toBe(120_000);
    expect(estimator.expect(shape({ bodyBytes: 960_000 })).inputTokens).toBeLessThan(100);
  });

  it('expects images by their number, and learns nothing of text from them', () => {
    const estimator = createEstimator();
    const image = shape({ bodyBytes: 400, payloadTokens: 1_600 });
    expect(estimator.expect(image).inputTokens).toBe(1_700);
    estimator.observe(image, usage(300, 5), 20);
    expect(estimator.expect(shape()).inputTokens).toBe(100);
  });

  it('starts from four bytes a token and the default output', () => {
    expect(createEstimator().expect(shape())).toEqual({ inputTokens: 100, outputTokens: 256, observed: false });
  });

  it('believes the first call at once and the mean of the first ten, for that workspace and model only', () => {
    const estimator = createEstimator();
    estimator.observe(shape(), usage(200, 20), 120);
    expect(estimator.expect(shape())).toEqual({ inputTokens: 200, outputTokens: 20, observed: true });
    estimator.observe(shape(), usage(200, 40), 240);
    expect(estimator.expect(shape())).toEqual({ inputTokens: 200, outputTokens: 30, observed: true });
    expect(estimator.charsPerToken('ws', 'm')).toBe(6);
    expect(estimator.expect(shape({ workspace: 'other' }))).toEqual({
      inputTokens: 100,
      outputTokens: 256,
      observed: false,
    });
    expect(estimator.charsPerToken('ws', 'other')).toBe(4);
  });

  it('follows a customer whose answers become longer', () => {
    const estimator = createEstimator();
    for (let i = 0; i < 100; i += 1) estimator.observe(shape(), usage(100, 20), 0);
    for (let i = 0; i < 50; i += 1) estimator.observe(shape(), usage(100, 400), 0);
    expect(estimator.expect(shape()).outputTokens).toBeGreaterThan(390);
  });

  it('never expects more output than the caller allows, and multiplies by the choices', () => {
    const estimator = createEstimator();
    expect(estimator.expect(shape({ choices: 3, maxOutputTokens: 10 })).outputTokens).toBe(30);
    estimator.observe(shape({ choices: 3 }), usage(10, 60), 0);
    expect(estimator.expect(shape()).outputTokens).toBe(20);
  });

  it('tells its error with and without calibration, by workspace', () => {
    const estimator = createEstimator();
    // Uncalibrated: 100 + 256 against 220, that is 136 too many each time; calibrated: only the first time.
    for (let i = 0; i < 10; i += 1) estimator.observe(shape(), usage(200, 20), 0);
    expect(estimator.errors(5)).toEqual([
      { workspace: 'ws', calls: 10, uncalibratedPercent: 61.8, calibratedPercent: 6.2 },
    ]);
  });
});
