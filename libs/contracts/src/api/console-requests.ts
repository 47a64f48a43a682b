import { z } from 'zod';
import { Instant, KeyId, NanoUsd } from '../ids.ts';
import { Outcome } from '../outcomes.ts';

const count = z.int().min(0);
const tokens = z.strictObject({
  input: count,
  cache_read: count,
  cache_write: count,
  output: count,
  reasoning: count,
  audio: count,
});
const ms = z.number().min(0);

/** Why a call did not end well, in words for people, and what helps. */
export const Explanation = z.strictObject({ why: z.string(), what_to_do: z.string() });
export type Explanation = z.infer<typeof Explanation>;

/**
 * One call that reached a provider, or (`kind: 'refusals'`) what was refused within one second for one reason:
 * refusals are counted, so that a flood of them cannot fill the record.
 */
export const RequestRow = z.strictObject({
  /** Stable, for lists. */
  id: z.string(),
  kind: z.enum(['call', 'refusals']),
  /** Null for refusals; some of theirs are in `samples`. */
  request_id: z.string().nullable(),
  samples: z.array(z.string()),
  /** 1 for a call. */
  count: z.int().min(1),
  occurred_at: Instant,
  model_requested: z.string().nullable(),
  /** What answered. */
  model: z.string().nullable(),
  provider: z.string().nullable(),
  feature: z.string().nullable(),
  key_id: KeyId.nullable(),
  key_name: z.string().nullable(),
  end_user: z.string().nullable(),
  outcome: Outcome,
  error_code: z.string().nullable(),
  status: z.int(),
  tokens,
  /** Null for a role without `cost:read`. */
  billed_nanousd: NanoUsd.nullable(),
  total_ms: ms.nullable(),
  ttfb_ms: ms.nullable(),
  queue_ms: ms.nullable(),
  stream: z.boolean(),
  fallback: z.boolean(),
  fallback_reason: z.string().nullable(),
  /** The limit that refused and its level. */
  limit: z.strictObject({ level: z.string().nullable(), name: z.string() }).nullable(),
  /** Null when it ended well. */
  explanation: Explanation.nullable(),
});
export type RequestRow = z.infer<typeof RequestRow>;

/** `GET /api/requests?from=&to=&outcome=&model=&key=&feature=&request_id=&limit=&cursor=`, newest first. */
export const RequestsView = z.strictObject({ rows: z.array(RequestRow), next_cursor: z.string().nullable() });
export type RequestsView = z.infer<typeof RequestsView>;

/** `GET /api/requests/<request id>`; also for a refused one that is among the samples. */
export const RequestView = RequestRow.extend({
  client_request_id: z.string().nullable(),
  operation: z.string().nullable(),
  finish_reason: z.string().nullable(),
  usage_source: z.string().nullable(),
  cache: z.string().nullable(),
  decision_id: z.string().nullable(),
  price_version: z.int().nullable(),
  overhead_us: count.nullable(),
  tags: z.record(z.string(), z.string()),
  attempts: z.array(
    z.strictObject({
      provider: z.string(),
      model: z.string(),
      outcome: z.string(),
      status: z.int().nullable(),
      queue_ms: ms,
      ttfb_ms: ms.nullable(),
      duration_ms: ms,
    }),
  ),
});
export type RequestView = z.infer<typeof RequestView>;
