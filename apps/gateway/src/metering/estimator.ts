import { inputTokens, outputTokens, type TokenUsage } from '@sluice/contracts';

/** Weight of a new observation. */
const ALPHA = 0.1;
/** Bytes of request body per input token before anything was observed. */
const FIRST_BYTES_PER_TOKEN = 4;
/** Pairs of workspace and model that are remembered; the oldest is forgotten first. */
const MAX_PAIRS = 50_000;

interface Calibration {
  bytesPerToken: number;
  /** Mean output of one choice, tokens; 0 before the first observation. */
  output: number;
}

export interface Estimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Expects what a call will use, and learns from what it did use, per workspace and model. Exponentially weighted means:
 * bytes of body per input token, and output tokens per choice. An expectation, not a bound: a long answer tops its
 * reservation up and the settlement trues it up.
 */
export interface Estimator {
  /** @param maxOutputTokens bound from the body, per choice; undefined when the body sets none. */
  expect(workspaceId: string, model: string, bodyBytes: number, choices: number, maxOutputTokens: number | undefined, defaultOutputTokens: number): Estimate;
  /** Only what a provider counted may be observed here. */
  observe(workspaceId: string, model: string, bodyBytes: number, choices: number, usage: TokenUsage): void;
}

export function createEstimator(): Estimator {
  const pairs = new Map<string, Calibration>();
  return {
    expect(workspaceId, model, bodyBytes, choices, maxOutputTokens, defaultOutputTokens) {
      const known = pairs.get(`${workspaceId} ${model}`);
      const input = Math.max(1, Math.ceil(bodyBytes / (known?.bytesPerToken ?? FIRST_BYTES_PER_TOKEN)));
      const perChoice = known === undefined || known.output === 0 ? defaultOutputTokens : Math.max(1, Math.ceil(known.output));
      return { inputTokens: input, outputTokens: Math.min(perChoice, maxOutputTokens ?? perChoice) * choices };
    },
    observe(workspaceId, model, bodyBytes, choices, usage) {
      const key = `${workspaceId} ${model}`;
      const input = inputTokens(usage);
      const output = outputTokens(usage) / choices;
      const known = pairs.get(key);
      if (known === undefined) {
        if (pairs.size >= MAX_PAIRS) pairs.delete(pairs.keys().next().value as string);
        pairs.set(key, { bytesPerToken: input > 0 ? bodyBytes / input : FIRST_BYTES_PER_TOKEN, output });
        return;
      }
      if (input > 0) known.bytesPerToken += ALPHA * (bodyBytes / input - known.bytesPerToken);
      known.output += ALPHA * (output - known.output);
    },
  };
}
