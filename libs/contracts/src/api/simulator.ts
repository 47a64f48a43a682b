import { z } from 'zod';

export const FAULT_KINDS = [
  'down',
  'refuse',
  'slow',
  'error',
  'rate_limit',
  'cut_stream',
  'stall',
  'garbage',
  'no_usage',
] as const;

/** `POST /providers/<name>/fault` of the simulated providers' control port. */
export const SimFault = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  /** Share of calls that are hit; all when absent. */
  rate: z.number().min(0).max(1).optional(),
  /** `slow`: added before the first byte. */
  latency_ms: z.int().min(0).max(600_000).optional(),
  /** `error`: the status to answer; 500 when absent. */
  status: z.int().min(400).max(599).optional(),
  retry_after_s: z.number().min(0).optional(),
  /** `cut_stream`, `stall`: after this many content chunks; 3 when absent. */
  after_chunks: z.int().min(0).optional(),
  /** The fault clears itself after this long. */
  seconds: z.number().min(0.1).max(86_400).optional(),
});
export type SimFault = z.infer<typeof SimFault>;

/** The body field `sim`, obeyed by every simulated provider. */
export const SimInstruction = z.strictObject({
  output_tokens: z.int().min(0).max(100_000).optional(),
  ttft_ms: z.int().min(0).max(600_000).optional(),
  chunk_ms: z.int().min(0).max(60_000).optional(),
  cached_tokens: z.int().min(0).optional(),
  finish_reason: z.string().max(64).optional(),
  omit_usage: z.boolean().optional(),
  /** This call alone is answered with an error, as a call is that only its own caller can be blamed for. */
  fail: z
    .strictObject({ status: z.int().min(400).max(599), retry_after_s: z.number().min(0).max(86_400).optional() })
    .optional(),
  /** Reported in the place of the true counts, which the provider's own statistics keep. */
  usage: z.strictObject({ input: z.int().min(0), output: z.int().min(0) }).optional(),
});
export type SimInstruction = z.infer<typeof SimInstruction>;

const count = z.int().min(0);
/** `GET /providers/<name>/stats`: the provider's own count, the independent witness of reconciliation. */
export const SimStats = z.object({
  provider: z.string(),
  /** Calls that arrived, refused ones included. */
  calls: count,
  /** Calls answered to their end. */
  completed: count,
  /** Calls whose connection the caller closed before the end. */
  cancelled: count,
  /** Calls ended by a fault. */
  failed: count,
  in_flight: count,
  max_in_flight: count,
  /** Of completed calls: what was reported, or would have been where usage was left out. */
  tokens: z.object({ input: count, cache_read: count, output: count }),
  /** Of cancelled and failed calls: what had been generated until then. */
  partial_tokens: z.object({ input: count, output: count }),
  by_model: z.record(z.string(), z.object({ calls: count, completed: count, input: count, output: count })),
  by_tenant_marker: z.record(z.string(), z.object({ calls: count, completed: count, input: count, output: count })),
});
export type SimStats = z.infer<typeof SimStats>;

/** One call that a simulated provider has ended. */
export const SimCallEntry = z.object({
  /** Counts the ended calls of the provider since its start; from 1. */
  seq: z.int(),
  /** The caller's `x-client-request-id`: the gateway gives its own request id. */
  request_id: z.string().nullable(),
  model: z.string().nullable(),
  /** `refused`: it was not understood, or there was no slot. */
  ending: z.enum(['completed', 'cancelled', 'failed', 'refused']),
  tokens: z.object({ input: count, cache_read: count, output: count }),
});
export type SimCallEntry = z.infer<typeof SimCallEntry>;

/** `GET /providers/<name>/calls?after=<seq>`: the next ended calls, at most 1,000. */
export const SimCalls = z.object({
  calls: z.array(SimCallEntry),
  /** Calls after `after` that are no longer held. */
  dropped: count,
});
export type SimCalls = z.infer<typeof SimCalls>;

/** Speed of each simulated model, milliseconds. */
export const SIM_MODELS = {
  'sim-large': { ttftMs: 600, chunkMs: 30 },
  'sim-medium': { ttftMs: 300, chunkMs: 20 },
  'sim-small': { ttftMs: 120, chunkMs: 10 },
} as const;
export const SIM_DEFAULT_OUTPUT_TOKENS = 20;
export const SIM_SLOTS = 200;
export const SIM_PROVIDERS = { primary: 'openai', secondary: 'anthropic', tertiary: 'openai' } as const;
export type SimProviderName = keyof typeof SIM_PROVIDERS;
