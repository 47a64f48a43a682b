import type { RequestRow, RequestsView, RequestView } from '@sluice/contracts';
import type { Sight } from '../routes/scoped-route.ts';
import { projectTokens } from './overview-view.ts';

export function projectRequests(from: RequestsView, sight: Sight): RequestsView {
  return { rows: from.rows.map((row) => projectRow(row, sight)), next_cursor: from.next_cursor };
}

export function projectRequest(from: RequestView, sight: Sight): RequestView {
  return {
    ...projectRow(from, sight),
    client_request_id: from.client_request_id,
    operation: from.operation,
    finish_reason: from.finish_reason,
    usage_source: from.usage_source,
    cache: from.cache,
    decision_id: from.decision_id,
    price_version: from.price_version,
    overhead_us: from.overhead_us,
    // The customer's own words, by their own keys.
    tags: Object.fromEntries(Object.entries(from.tags).filter(([, value]) => typeof value === 'string')),
    attempts: from.attempts.map((a) => ({
      provider: a.provider,
      model: a.model,
      outcome: a.outcome,
      status: a.status,
      queue_ms: a.queue_ms,
      ttfb_ms: a.ttfb_ms,
      duration_ms: a.duration_ms,
    })),
  };
}

function projectRow(r: RequestRow, sight: Sight): RequestRow {
  return {
    id: r.id,
    kind: r.kind,
    request_id: r.request_id,
    samples: [...r.samples],
    count: r.count,
    occurred_at: r.occurred_at,
    model_requested: r.model_requested,
    model: r.model,
    provider: r.provider,
    feature: r.feature,
    key_id: r.key_id,
    key_name: r.key_name,
    end_user: r.end_user,
    outcome: r.outcome,
    error_code: r.error_code,
    status: r.status,
    tokens: projectTokens(r.tokens),
    billed_nanousd: sight.cost ? r.billed_nanousd : null,
    total_ms: r.total_ms,
    ttfb_ms: r.ttfb_ms,
    queue_ms: r.queue_ms,
    stream: r.stream,
    fallback: r.fallback,
    fallback_reason: r.fallback_reason,
    limit: r.limit === null ? null : { level: r.limit.level, name: r.limit.name },
    explanation: r.explanation === null ? null : { why: r.explanation.why, what_to_do: r.explanation.what_to_do },
  };
}
