import { z } from 'zod';
import { Name } from '../ids.ts';

/**
 * `POST /api/playground`: one chat call in the person's name. The answer is the gateway's own: on success its
 * server-sent events (chunks of the OpenAI dialect, then an event `usage` with tokens and cost), with its
 * `x-sluice-*` and `x-ratelimit-*` headers; a refusal is the gateway's error body with its status and
 * `retry-after`. Closing the connection cancels the call.
 */
export const PlaygroundRequest = z.strictObject({
  model: Name,
  messages: z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string().min(1).max(200_000) }))
    .min(1)
    .max(100),
  max_tokens: z.int().min(1).max(1_000_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  feature: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:\/-]{0,127}$/, 'must be 1 to 128 letters, digits, or . _ : / -')
    .optional(),
});
export type PlaygroundRequest = z.infer<typeof PlaygroundRequest>;

/** Data of the event `usage` at the stream's end. */
export const PlaygroundUsage = z.object({
  tokens: z.record(z.string(), z.int()).optional(),
  cost_nanousd: z.int().optional(),
  latency_ms: z.number().optional(),
  model: z.string().optional(),
  provider: z.string().optional(),
});
export type PlaygroundUsage = z.infer<typeof PlaygroundUsage>;
