import { type BodyPayloads, inputTokens, outputTokens, totalTokens, type TokenUsage } from '@sluice/contracts';

/** Weight of a new observation once there are enough of them. */
const ALPHA = 0.1;
/** Bytes of request body per input token, and characters of text per output token, before anything was observed. */
const FIRST_PER_TOKEN = 4;
/** Pairs of workspace and model that are remembered; the one unused longest is forgotten first. */
const MAX_PAIRS = 50_000;

/** What an image of usual size counts; its bytes say nothing about it. */
export const IMAGE_TOKENS = 1_600;
/** Base64 of audio or a document for which a token is expected. */
const PAYLOAD_BYTES_PER_TOKEN = 512;
/** No text that people or programs write has more bytes to a token. */
const FLOOR_BYTES_PER_TOKEN = 8;
/** The same of images, audio and files in base64. */
const FLOOR_PAYLOAD_BYTES_PER_TOKEN = 2_048;

/** What the images, audio and files of a body are expected to count. */
export function payloadTokens({ images, imageBytes, bytes }: BodyPayloads): number {
  return images * IMAGE_TOKENS + Math.ceil((bytes - imageBytes) / PAYLOAD_BYTES_PER_TOKEN);
}

/**
 * Tokens that a body counts at least, because bytes are never free: all of it goes upstream, whatever a provider finds
 * in it. Far below what honest text comes to, and nearly nothing for images.
 *
 * @param bytes of the whole body.
 */
export function bytesFloor(bytes: number, payloads: BodyPayloads): number {
  const text = Math.max(0, bytes - payloads.bytes);
  return Math.floor(text / FLOOR_BYTES_PER_TOKEN + payloads.bytes / FLOOR_PAYLOAD_BYTES_PER_TOKEN);
}

/** Least that a body of so many bytes counts, whatever is in it. */
export const leastTokens = (bytes: number): number => Math.max(1, Math.floor(bytes / FLOOR_PAYLOAD_BYTES_PER_TOKEN));

/** What a call is known to ask for before it runs. */
export interface CallShape {
  /** Slug. */
  readonly workspace: string;
  /** Catalogue id of the model that was resolved. */
  readonly model: string;
  /** Of the body, without its images, audio and files. */
  readonly bodyBytes: number;
  /** What those are expected to count, and what they count at least. */
  readonly payloadTokens: number;
  /** Least that the whole body counts as input; see `bytesFloor`. */
  readonly floorTokens: number;
  /** Answers asked for (`n`). */
  readonly choices: number;
  /** Bound from the body, per choice; undefined when the body sets none. */
  readonly maxOutputTokens: number | undefined;
  /** The policy's expectation of an unbounded call that nothing is known of. */
  readonly defaultOutputTokens: number;
}

export interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** By calls of this workspace and model that were counted, rather than by the policy's expectation. */
  readonly observed: boolean;
}

/** How far expectations were from what providers counted: sum of absolute errors over sum of tokens, percent. */
export interface EstimateError {
  readonly workspace: string;
  readonly calls: number;
  /** Had every call been expected without calibration. */
  readonly uncalibratedPercent: number;
  /** Of the expectation that was in force for each call. */
  readonly calibratedPercent: number;
}

/**
 * Expects what a call will use, and learns from what it did use, per workspace and model: bytes of body per input
 * token, output tokens per choice, characters per output token. Means over the first ten calls, exponentially
 * weighted from then on. An expectation, not a bound: a long answer tops its reservation up and the settlement
 * trues it up.
 */
export interface Estimator {
  expect(shape: CallShape): Estimate;
  /** Characters of one output token of this workspace and model. */
  charsPerToken(workspace: string, model: string): number;
  /**
   * Only what a provider counted may be observed here.
   *
   * @param outputChars characters of generated text over all choices; 0 when unknown.
   */
  observe(shape: CallShape, usage: TokenUsage, outputChars: number): void;
  /** Errors so far by workspace, the busiest first, at most `top`. */
  errors(top: number): EstimateError[];
}

class Calibration {
  calls = 0;
  bytesPerToken = FIRST_PER_TOKEN;
  /** Mean output of one choice, tokens; 0 before the first observation. */
  output = 0;
  charsPerToken = FIRST_PER_TOKEN;
  actual = 0;
  uncalibratedError = 0;
  calibratedError = 0;

  expect(shape: CallShape): Estimate {
    const perChoice = this.calls === 0 ? shape.defaultOutputTokens : Math.max(1, Math.ceil(this.output));
    return estimate(shape, this.bytesPerToken, perChoice, this.calls > 0);
  }

  learn(shape: CallShape, usage: TokenUsage, outputChars: number): void {
    const actual = totalTokens(usage);
    this.actual += actual;
    this.uncalibratedError += Math.abs(
      sum(estimate(shape, FIRST_PER_TOKEN, shape.defaultOutputTokens, false)) - actual,
    );
    this.calibratedError += Math.abs(sum(this.expect(shape)) - actual);
    this.calls += 1;
    const weight = Math.max(ALPHA, 1 / this.calls);
    const input = inputTokens(usage);
    const output = outputTokens(usage);
    // What an image counts says nothing of the text beside it.
    if (input > 0 && shape.payloadTokens === 0)
      this.bytesPerToken += weight * (shape.bodyBytes / input - this.bytesPerToken);
    this.output += weight * (output / shape.choices - this.output);
    if (outputChars > 0 && output > 0) this.charsPerToken += weight * (outputChars / output - this.charsPerToken);
  }
}

const FIRST = new Calibration();

export function createEstimator(): Estimator {
  const pairs = new Map<string, Calibration>();
  const find = (workspace: string, model: string): Calibration => pairs.get(`${workspace} ${model}`) ?? FIRST;
  return {
    expect: (shape) => find(shape.workspace, shape.model).expect(shape),
    charsPerToken: (workspace, model) => find(workspace, model).charsPerToken,
    observe(shape, usage, outputChars) {
      const name = `${shape.workspace} ${shape.model}`;
      let known = pairs.get(name);
      if (known === undefined) {
        if (pairs.size >= MAX_PAIRS) pairs.delete(pairs.keys().next().value as string);
        pairs.set(name, (known = new Calibration()));
      }
      known.learn(shape, usage, outputChars);
    },
    errors(top) {
      const sums = new Map<string, { calls: number; actual: number; uncalibrated: number; calibrated: number }>();
      for (const [name, pair] of pairs) {
        const workspace = name.slice(0, name.indexOf(' '));
        const known = sums.get(workspace) ?? { calls: 0, actual: 0, uncalibrated: 0, calibrated: 0 };
        known.calls += pair.calls;
        known.actual += pair.actual;
        known.uncalibrated += pair.uncalibratedError;
        known.calibrated += pair.calibratedError;
        sums.set(workspace, known);
      }
      return [...sums]
        .sort(([, a], [, b]) => b.calls - a.calls)
        .slice(0, top)
        .map(([workspace, { calls, actual, uncalibrated, calibrated }]) => ({
          workspace,
          calls,
          uncalibratedPercent: percent(uncalibrated, actual),
          calibratedPercent: percent(calibrated, actual),
        }));
    },
  };
}

function estimate(
  { bodyBytes, payloadTokens, floorTokens, choices, maxOutputTokens }: CallShape,
  bytesPerToken: number,
  perChoice: number,
  observed: boolean,
): Estimate {
  return {
    inputTokens: Math.max(1, floorTokens, Math.ceil(bodyBytes / bytesPerToken) + payloadTokens),
    outputTokens: Math.min(perChoice, maxOutputTokens ?? perChoice) * choices,
    observed,
  };
}

const sum = ({ inputTokens: input, outputTokens: output }: Estimate): number => input + output;
const percent = (error: number, actual: number): number =>
  actual === 0 ? 0 : Math.round((error / actual) * 1000) / 10;
