import { boundedLabel, type Metrics } from '@sluice/service-kit';
import { heightOf, stepOf, type SignalTable } from '@sluice/routing';
import type { DecisionRow, StoreFigures } from './store/router-store.ts';
import type { Published } from './learn/publisher.ts';
import type { WaitingLog } from './learn/waiting-log.ts';
import type { ReactionRecord, RouterState } from './state/router-state.ts';

export interface RouterMetrics {
  decided(row: DecisionRow): void;
  refused(): void;
  feedback(status: number): void;
  published(): void;
  reacted(step: Pick<ReactionRecord, 'kind' | 'to'>): void;
  pruned(table: 'decisions' | 'journal', rows: number): void;
  /** Reads what is a state rather than an event. */
  read(): void;
}

export function createRouterMetrics(
  metrics: Metrics,
  deps: {
    log: Pick<WaitingLog, 'waiting'>;
    signals: Pick<SignalTable, 'profiles'>;
    state: () => RouterState | undefined;
    current: () => Published | undefined;
    stored: () => StoreFigures | undefined;
    nowMs: () => number;
  },
): RouterMetrics {
  const decisions = metrics.counter('sluice_router_decisions_total', 'decisions logged', ['source', 'model', 'kind']);
  const refusals = metrics.counter(
    'sluice_router_back_pressure_total',
    'requests refused because too many decisions wait to be stored',
  );
  const feedback = metrics.counter('sluice_router_feedback_total', 'feedback items by their status', ['status']);
  const publications = metrics.counter('sluice_router_publications_total', 'snapshots published');
  const waiting = metrics.gauge('sluice_router_log_waiting', 'decisions that wait to be stored');
  const learned = metrics.gauge('sluice_router_rewards_learned', 'rewards that the models have learned', ['model']);
  const capped = metrics.gauge('sluice_router_rewards_capped', 'rewards not learned because one tenant had its share', [
    'model',
  ]);
  const age = metrics.gauge('sluice_router_snapshot_age_seconds', 'since the snapshot was published');
  const stage = metrics.gauge('sluice_router_rollout_stage', '1 for the stage of the running rollout', ['stage']);
  const reaction = metrics.gauge(
    'sluice_router_drift_step',
    'step of the reactions to drift, 0 watching to 6 rollback',
  );
  const reactions = metrics.counter('sluice_router_drift_steps_total', 'steps of the reactions to drift', [
    'kind',
    'to',
  ]);
  const withheld = metrics.gauge(
    'sluice_router_rewards_withheld',
    'rewards not learned because the policy was frozen',
    ['model'],
  );
  const storedRows = metrics.gauge('sluice_router_stored_rows', 'rows that the router keeps', ['table']);
  const storedBytes = metrics.gauge('sluice_router_stored_bytes', 'size of a table with its indexes', ['table']);
  const storedAge = metrics.gauge('sluice_router_stored_oldest_seconds', 'age of the oldest row', ['table']);
  const pruned = metrics.counter('sluice_router_pruned_total', 'rows deleted for their age or their number', ['table']);
  const difficulty = metrics.gauge('sluice_router_tenant_difficulty', 'length of answers, 0 to 1', ['tenant']);
  const pressure = metrics.gauge('sluice_router_tenant_pressure', 'share of requests throttled or shed, 0 to 1', [
    'tenant',
  ]);
  const tenantLabel = boundedLabel();
  const modelLabel = boundedLabel(100);

  return {
    decided: ({ source, decision }) =>
      decisions.inc({
        source,
        model: modelLabel(decision.chosen),
        kind: decision.deterministic ?? (decision.chosen === decision.base ? 'base' : 'explored'),
      }),
    refused: () => refusals.inc(),
    feedback: (status) => feedback.inc({ status: String(status) }),
    published: () => publications.inc(),
    pruned: (table, rows) => pruned.inc({ table }, rows),
    reacted: ({ kind, to }) => reactions.inc({ kind, to }),
    read: () => {
      waiting.set(deps.log.waiting);
      for (const [tenant, profile] of deps.signals.profiles(deps.nowMs())) {
        difficulty.set({ tenant: tenantLabel(tenant) }, profile.difficulty);
        pressure.set({ tenant: tenantLabel(tenant) }, profile.pressure);
      }
      const state = deps.state();
      for (const one of state?.arms.summaries() ?? []) {
        learned.set({ model: modelLabel(one.model) }, one.learned);
        capped.set({ model: modelLabel(one.model) }, one.capped);
        withheld.set({ model: modelLabel(one.model) }, one.withheld);
      }
      if (state !== undefined) reaction.set(heightOf(stepOf(state.reaction)));
      for (const [table, of] of Object.entries(deps.stored() ?? {})) {
        storedRows.set({ table }, of.rows);
        if (of.bytes !== undefined) storedBytes.set({ table }, of.bytes);
        storedAge.set({ table }, of.oldestMs === undefined ? 0 : Math.max(0, deps.nowMs() - of.oldestMs) / 1000);
      }
      stage.reset();
      if (state?.running !== undefined) stage.set({ stage: state.running.stage }, 1);
      const current = deps.current();
      if (current !== undefined) age.set((deps.nowMs() - Date.parse(current.compiled.snapshot.created_at)) / 1000);
    },
  };
}
