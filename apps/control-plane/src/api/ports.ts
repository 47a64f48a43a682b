import { z } from 'zod';
import { Instant, Name, Slug, type LedgerPage, type LedgerSummary, type QueueState } from '@sluice/contracts';
import type { AuditInput } from '../config/config-repository.ts';
import type { Watermark } from '../stream/config-stream.ts';

/** `GET /api/ledger`. */
export const LedgerQuery = z.strictObject({
  workspace: Slug.optional(),
  /** Inclusive. */
  from: Instant.optional(),
  /** Exclusive. */
  to: Instant.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().max(200).optional(),
});
export type LedgerQuery = z.infer<typeof LedgerQuery>;

export const LedgerRange = LedgerQuery.omit({ limit: true, cursor: true });
export type LedgerRange = z.infer<typeof LedgerRange>;

/** Usage of a workspace in steps of time, by model and feature; what the customer is billed. */
export const UsagePoint = z.object({
  /** Start of the step. */
  at: Instant,
  model: z.string().nullable(),
  feature: z.string().nullable(),
  calls: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  billed_nanousd: z.int(),
});
export type UsagePoint = z.infer<typeof UsagePoint>;

export const UsageQuery = z.strictObject({ from: Instant.optional(), to: Instant.optional(), step: z.enum(['hour', 'day']).default('hour') });
export type UsageQuery = z.infer<typeof UsageQuery>;

/** Read side of the ledger. */
export interface LedgerReader {
  rows(query: LedgerQuery): Promise<LedgerPage>;
  summary(range: LedgerRange): Promise<LedgerSummary>;
  usage(query: UsageQuery & { workspace: string }): Promise<UsagePoint[]>;
  watermarks(): Promise<readonly Watermark[]>;
}

/** One row of the audit log. */
export const AuditRow = z.object({
  event_id: z.string(),
  occurred_at: Instant,
  type: z.string(),
  actor: z.object({ kind: z.string(), id: z.string(), address: z.string().optional() }),
  target: z.object({ kind: z.string(), id: z.string() }),
  tenant_id: Name.nullable(),
  workspace: Slug.nullable(),
  before: z.unknown(),
  after: z.unknown(),
  reason: z.string().nullable(),
});
export type AuditRow = z.infer<typeof AuditRow>;

export const AuditQuery = z.strictObject({
  tenant: Name.optional(),
  /** Only what happened before this instant; for paging. */
  before: Instant.optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export interface AuditLog {
  rows(query: AuditQuery): Promise<AuditRow[]>;
}

/** Records what was done that is not a configuration change. Resolves when it is durable. */
export interface AuditTrail {
  record(input: AuditInput): Promise<void>;
}

/** The queues as they stand, and moving dead letters back. */
export interface QueueAdmin {
  readStates(): Promise<QueueState[]>;
  /** Moves the dead letters of a queue back to it; resolves with how many were moved. */
  redrive(queue: string): Promise<number>;
}
