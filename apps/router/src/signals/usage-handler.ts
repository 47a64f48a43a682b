import {
  Anomaly,
  CallSettled,
  outputTokens,
  RouteDecision,
  type EventHandler,
  type IncomingEvent,
} from '@sluice/contracts';
import type { SignalTable } from '@sluice/routing';
import { type z } from 'zod';
import type { CallAverages } from '../learn/call-averages.ts';
import type { CallOutcome, Changes, DecisionRow } from '../store/router-store.ts';

/** The fields that are read; whatever else an event carries is no reason to refuse it. */
const Usage = CallSettled.pick({
  schema: true,
  event_id: true,
  occurred_at: true,
  type: true,
  tenant_id: true,
  workspace: true,
  outcome: true,
  usage: true,
  model: true,
  decision_id: true,
  cost_nanousd: true,
  billed_nanousd: true,
  latency: true,
})
  .partial({ workspace: true, cost_nanousd: true, billed_nanousd: true, latency: true })
  .extend({ decision: RouteDecision.optional() });
type Usage = z.infer<typeof Usage>;
const Refusals = Anomaly.pick({
  schema: true,
  event_id: true,
  occurred_at: true,
  type: true,
  tenant_id: true,
  count: true,
});

export interface UsageHandlerDeps {
  readonly signals: SignalTable;
  readonly averages: CallAverages;
  /**
   * Stores decisions of gateways, and what became of decisions; throws while the store is away, and the events come
   * again.
   */
  readonly commit: (changes: Pick<Changes, 'decisions' | 'calls'>) => Promise<void>;
  readonly rewardTimeoutMs: number;
  /** For the hard limits of a rollout, once for each call. */
  readonly onCall: (decision: RouteDecision, call: CallOutcome) => void;
  readonly onDecision: (row: DecisionRow) => void;
}

/** Consumer of `router-usage`: signals, averages, decisions of gateways and what became of them. */
export function createUsageHandler({
  signals,
  averages,
  commit,
  rewardTimeoutMs,
  onCall,
  onDecision,
}: UsageHandlerDeps): EventHandler {
  return async (batch) => {
    const { read, failed } = readEach(Usage, batch);
    const rows = read.flatMap((event) =>
      event.decision === undefined ? [] : [toRow(event, event.decision, rewardTimeoutMs)],
    );
    const calls = read.flatMap((event) =>
      event.decision !== undefined || event.decision_id === undefined
        ? []
        : [{ id: event.decision_id, call: callOf(event) }],
    );
    // Before anything is counted: what cannot be stored comes again and is counted then.
    if (rows.length + calls.length > 0) await commit({ decisions: rows, calls });
    for (const event of read) {
      if (!count(event)) continue;
      if (event.decision === undefined) continue;
      onCall(event.decision, callOf(event));
      onDecision(toRow(event, event.decision, rewardTimeoutMs));
    }
    return { failed };
  };

  /** False for an event that was counted before. */
  function count(event: Usage): boolean {
    const { event_id: eventId, tenant_id: tenant, model, latency } = event;
    const atMs = Date.parse(event.occurred_at);
    const tokens = outputTokens(event.usage);
    if (event.outcome !== 'ok') return true;
    const expectedTokens = model === undefined ? undefined : averages.of(model)?.outputTokens;
    if (!signals.settled({ tenant, eventId, outputTokens: tokens, atMs, expectedTokens })) return false;
    if (model !== undefined && latency !== undefined)
      averages.add(model, {
        latencyMs: latency.total_ms,
        outputTokens: tokens,
        costNanoUsd: event.billed_nanousd ?? 0,
      });
    return true;
  }
}

/** Consumer of `router-anomaly`, whose filter lets throttled and shed through. */
export function createRefusalHandler(signals: SignalTable): EventHandler {
  return async (batch) => {
    const { read, failed } = readEach(Refusals, batch);
    for (const { event_id: eventId, tenant_id: tenant, occurred_at, count } of read) {
      if (tenant !== undefined) signals.refused({ tenant, eventId, count, atMs: Date.parse(occurred_at) });
    }
    return { failed };
  };
}

function toRow(event: Usage, decision: RouteDecision, rewardTimeoutMs: number): DecisionRow {
  const atMs = Date.parse(event.occurred_at);
  return {
    id: decision.decision_id,
    atMs,
    tenant: event.tenant_id,
    workspace: event.workspace ?? '',
    source: 'gateway',
    decision,
    expiresAtMs: atMs + rewardTimeoutMs,
    rewardState: decision.evaluated ? 'pending' : 'not_evaluated',
    call: callOf(event),
  };
}

const callOf = (event: Usage): CallOutcome => ({
  outcome: event.outcome,
  executedModel: event.model,
  costNanoUsd: event.cost_nanousd ?? 0,
  billedNanoUsd: event.billed_nanousd ?? 0,
  outputTokens: outputTokens(event.usage),
  totalMs: event.latency?.total_ms ?? 0,
});

/** The readable events of a batch; an unreadable one fails alone, with the reason. */
function readEach<T>(
  schema: z.ZodType<T>,
  batch: readonly IncomingEvent[],
): { read: T[]; failed: Map<string, string> } {
  const read: T[] = [];
  const failed = new Map<string, string>();
  for (const { messageId, body } of batch) {
    const parsed = schema.safeParse(parse(body));
    if (parsed.success) read.push(parsed.data);
    else
      failed.set(
        messageId,
        parsed.error.issues
          .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
          .join('; ')
          .slice(0, 300),
      );
  }
  return { read, failed };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
