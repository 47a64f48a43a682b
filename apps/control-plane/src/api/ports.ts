import { z } from 'zod';
import {
  Instant,
  Name,
  Outcome,
  RequestId,
  Slug,
  type DeadLetterView,
  type LedgerCorrection,
  type LedgerDifference,
  type LedgerPage,
  type LedgerRow,
  type LedgerSummary,
  type QueueState,
  type CorrectionCounts,
  type QuotaAuditRequest,
  type QuotaAuditResponse,
  type QuotaUseRequest,
  type QuotaUseResponse,
  type RedriveAnswer,
} from '@sluice/contracts';
import type { AuditInput } from '../config/config-repository.ts';
import type { Watermark } from '../stream/config-stream.ts';

/** A bound of a range: years from 1970 on, milliseconds at most, so that it means the same to rows and to rollups. */
const Bound = z.iso
  .datetime({ error: 'must be an RFC 3339 instant in UTC, such as 2026-01-31T00:00:00.000Z' })
  .refine((text) => Date.parse(text) >= 0, 'must not be before 1970')
  .refine((text) => !/\.\d{4,}Z$/.test(text), 'must not be finer than milliseconds');

const span = {
  /** Inclusive. */
  from: Bound.optional(),
  /** Exclusive. */
  to: Bound.optional(),
};
/** Text that PostgreSQL can compare with: it knows no NUL. */
const label = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !text.includes('\0'), 'must not hold a NUL');
const filters = { model: Name.optional(), feature: label(128).optional(), outcome: Outcome.optional() };
const page = { limit: z.coerce.number().int().min(1).max(1000).default(100), cursor: z.string().max(600).optional() };

const inOrder = (range: { from?: string | undefined; to?: string | undefined }): boolean =>
  range.from === undefined || range.to === undefined || Date.parse(range.from) < Date.parse(range.to);
const ORDER = { path: ['to'], error: 'must be after from: from is inclusive, to is exclusive' };

/** `GET /api/ledger`. */
export const LedgerQuery = z
  .strictObject({
    tenant: Name.optional(),
    workspace: Slug.optional(),
    request_id: RequestId.optional(),
    kind: z.enum(['call', 'correction']).optional(),
    ...filters,
    ...span,
    ...page,
  })
  .refine(inOrder, ORDER);
export type LedgerQuery = z.infer<typeof LedgerQuery>;

/** The rows of one workspace, which is in the path. */
export const WorkspaceLedgerQuery = z.strictObject({ ...filters, ...span, ...page }).refine(inOrder, ORDER);

export const LedgerRange = z
  .strictObject({ tenant: Name.optional(), workspace: Slug.optional(), ...filters, ...span })
  .refine(inOrder, ORDER);
export type LedgerRange = z.infer<typeof LedgerRange>;
/** A range of the calls of one key, too. */
export type LedgerScope = LedgerRange & { readonly key?: string | undefined };

/** Days whose rollups are meant: those that the range touches, all when it is empty. */
export const LedgerSpan = z
  .strictObject(span)
  .refine(inOrder, ORDER)
  .meta({ examples: [{ from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' }] });
export type LedgerSpan = z.infer<typeof LedgerSpan>;

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

const steps = {
  ...span,
  step: z.enum(['hour', 'day']).default('hour'),
  by: z.enum(['model', 'model_feature']).optional(),
};

export const UsageQuery = z.strictObject(steps).refine(inOrder, ORDER);
export type UsageQuery = z.infer<typeof UsageQuery>;

/** `GET /api/ledger/usage`: of a tenant, of a workspace, or of all. */
export const LedgerUsageQuery = z
  .strictObject({ tenant: Name.optional(), workspace: Slug.optional(), ...steps })
  .refine(inOrder, ORDER);
export type LedgerUsageQuery = z.infer<typeof LedgerUsageQuery>;

/** Read side of the ledger. */
export interface LedgerReader {
  rows(query: LedgerQuery): Promise<LedgerPage>;
  summary(range: LedgerScope): Promise<LedgerSummary>;
  usage(query: LedgerUsageQuery): Promise<UsagePoint[]>;
  watermarks(): Promise<readonly Watermark[]>;
  /** Settled calls by key and step, for a gateway that lost its quota counters. */
  quotaUse(request: QuotaUseRequest): Promise<QuotaUseResponse>;
  /** What the counters of these levels should hold. */
  quotaAudit(request: QuotaAuditRequest): Promise<QuotaAuditResponse>;
  /** How many corrections each key has had in the 45 days before. */
  corrections(nowMs: number): Promise<CorrectionCounts>;
}

/** What operators do to the ledger: its rows are never changed, only added to. */
export interface LedgerKeeper {
  /** Adds a correction and its audit record; the same one again adds nothing. */
  correct(correction: LedgerCorrection, actor: AuditInput['actor']): Promise<{ row: LedgerRow; created: boolean }>;
  /** Makes the rollups of the days of a span anew; how many days. */
  rebuildRollups(span: LedgerSpan): Promise<number>;
  checkRollups(span: LedgerSpan): Promise<LedgerDifference[]>;
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
  workspace: Slug.optional(),
  /** Who did it: the id of an operator, a person or a key. */
  actor: z.string().min(1).max(200).optional(),
  /** `policy.changed`, or `policy` for everything that was done to one. */
  action: z
    .string()
    .regex(/^[a-z_]+(\.[a-z_]+)?$/, 'must be like policy.changed, or policy')
    .optional(),
  /** Inclusive. */
  from: Instant.optional(),
  /** Exclusive. */
  to: Instant.optional(),
  cursor: z.string().max(400).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditPage = z.object({ rows: z.array(AuditRow), next_cursor: z.string().nullable() });
export type AuditPage = z.infer<typeof AuditPage>;

export interface AuditLog {
  /** Newest first. @throws ProblemError 400 for a cursor that is none. */
  rows(query: AuditQuery): Promise<AuditPage>;
}

/** Records what was done that is not a configuration change. Resolves when it is durable. */
export interface AuditTrail {
  record(input: AuditInput): Promise<void>;
}

/** The queues as they stand, and moving dead letters back. */
export interface QueueAdmin {
  readStates(): Promise<QueueState[]>;
  /** Whether a queue is declared. */
  knows(queue: string): boolean;
  /**
   * Moves the dead letters of a queue back to it.
   * @throws ProblemError 404 for an unknown queue, 502 when it broke off, with what was moved.
   */
  redrive(queue: string): Promise<Omit<RedriveAnswer, 'queue'>>;
  /** Looks at some dead letters, which stay. */
  deadLetters(queue: string, limit: number): Promise<DeadLetterView[]>;
  /** Deletes dead letters for good. */
  discard(queue: string, ids: readonly string[]): Promise<{ discarded: number; left: number }>;
}
