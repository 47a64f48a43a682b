import type { ConfigSnapshot, Outcome, RequestRow, RequestView } from '@sluice/contracts';
import { zeroUsage } from '@sluice/contracts';
import { explain, type RefusingLimit } from './explain.ts';
import type { FoundRequest, RefusedGroup } from './request-reader.ts';

const REFUSED_STATUS: Partial<Record<Outcome, number>> = {
  throttled: 429,
  quota: 402,
  shed: 503,
  unauthenticated: 401,
  client_error: 400,
};

/** What the view of a request needs beside its record. */
export interface RequestSight {
  readonly keys: ConfigSnapshot['keys'];
  readonly cost: boolean;
}

export function requestRow(found: FoundRequest, sight: RequestSight): RequestRow {
  return found.kind === 'refusals' ? refusedRow(found.group) : callRow(found.row, sight);
}

/** With the attempts; their cost is ours and not told. */
export function requestView(found: FoundRequest, sight: RequestSight): RequestView {
  const row = requestRow(found, sight);
  if (found.kind === 'refusals') {
    return {
      ...row,
      client_request_id: null,
      operation: null,
      finish_reason: null,
      usage_source: null,
      cache: null,
      decision_id: null,
      price_version: null,
      overhead_us: null,
      tags: {},
      attempts: [],
    };
  }
  const call = found.row;
  return {
    ...row,
    client_request_id: call.client_request_id ?? null,
    operation: call.operation,
    finish_reason: call.finish_reason ?? null,
    usage_source: call.usage_source,
    cache: call.cache,
    decision_id: call.decision_id ?? null,
    price_version: call.price_version,
    overhead_us: call.latency.overhead_us,
    tags: call.tags,
    attempts: call.attempts.map((attempt) => ({
      provider: attempt.provider,
      model: attempt.model,
      outcome: attempt.outcome,
      status: attempt.status ?? null,
      queue_ms: attempt.queue_ms,
      ttfb_ms: attempt.ttfb_ms ?? null,
      duration_ms: attempt.duration_ms,
    })),
  };
}

function callRow(row: Extract<FoundRequest, { kind: 'call' }>['row'], { keys, cost }: RequestSight): RequestRow {
  const key = Object.hasOwn(keys, row.key_id) ? keys[row.key_id] : undefined;
  return {
    id: row.event_id,
    kind: 'call',
    request_id: row.request_id,
    samples: [],
    count: 1,
    occurred_at: row.occurred_at,
    model_requested: row.model_requested,
    model: row.model,
    provider: row.provider,
    feature: row.feature,
    key_id: row.key_id,
    key_name: key !== undefined && key.workspace === row.workspace ? key.name : null,
    end_user: row.end_user,
    outcome: row.outcome,
    error_code: row.error_code,
    status: row.status,
    tokens: row.tokens,
    billed_nanousd: cost ? row.billed_nanousd : null,
    total_ms: row.latency.total_ms,
    ttfb_ms: row.latency.ttfb_ms,
    queue_ms: row.latency.queue_ms,
    stream: row.stream,
    fallback: row.fallback,
    fallback_reason: row.fallback_reason,
    limit: null,
    explanation: explain(row.outcome, row.error_code),
  };
}

function refusedRow(group: RefusedGroup): RequestRow {
  const limit = limitOf(group);
  return {
    id: group.eventId,
    kind: 'refusals',
    request_id: null,
    samples: [...group.samples],
    count: group.count,
    occurred_at: group.at,
    model_requested: null,
    model: null,
    provider: null,
    feature: null,
    key_id: null,
    key_name: null,
    end_user: null,
    outcome: group.outcome,
    error_code: null,
    status: REFUSED_STATUS[group.outcome] ?? 500,
    tokens: zeroUsage(),
    billed_nanousd: null,
    total_ms: null,
    ttfb_ms: null,
    queue_ms: null,
    stream: false,
    fallback: false,
    fallback_reason: null,
    limit,
    explanation: explain(group.outcome, null, limit),
  };
}

/** Gateways write the subject as `<level> <name>`; one without a level names no limit. */
function limitOf({ level, subject }: RefusedGroup): RefusingLimit | null {
  if (level === null) return null;
  return { level, name: subject.startsWith(`${level} `) ? subject.slice(level.length + 1) : subject };
}
