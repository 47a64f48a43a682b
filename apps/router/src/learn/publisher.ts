import { ROUTER_SNAPSHOT_FORMAT, type Clock, type RouterSnapshot, type SnapshotPolicy } from '@sluice/contracts';
import { compileSnapshot, type CompiledSnapshot, type SignalTable } from '@sluice/routing';
import type { Ids } from '@sluice/service-kit';
import { weightOf, type RouterState } from '../state/router-state.ts';
import type { CallAverages } from './call-averages.ts';

/** Tenants whose signals are published; those without any are left out. */
const MAX_TENANTS = 2_000;

export interface Published {
  readonly compiled: CompiledSnapshot;
  /** The same as JSON text, made once for all who read it. */
  readonly json: string;
}

/** Makes the snapshot that decisions are made by, whenever what it is made of has changed. */
export interface Publisher {
  readonly current: Published | undefined;
  /** @returns whether there is a new one. */
  publish(): boolean;
  subscribe(listener: (published: Published) => void): () => void;
}

export function createPublisher(deps: {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly state: () => RouterState | undefined;
  readonly signals: Pick<SignalTable, 'profiles'>;
  readonly averages: Pick<CallAverages, 'of'>;
  readonly onPublished?: (snapshot: RouterSnapshot) => void;
}): Publisher {
  const listeners = new Set<(published: Published) => void>();
  let current: Published | undefined;
  let lastContent = '';

  function withAverages(policy: SnapshotPolicy): SnapshotPolicy {
    return {
      ...policy,
      arms: policy.arms.map((arm) => {
        const average = deps.averages.of(arm.model);
        return average === undefined
          ? arm
          : {
              ...arm,
              mean_output_tokens: Math.round(average.outputTokens),
              mean_latency_ms: Math.round(average.latencyMs),
            };
      }),
    };
  }

  function tenants(): RouterSnapshot['tenants'] {
    const rounded = deps.signals
      .profiles(deps.clock.now())
      .map(
        ([tenant, { difficulty, pressure }]) =>
          [tenant, { difficulty: two(difficulty), pressure: two(pressure) }] as const,
      )
      .filter(([, { difficulty, pressure }]) => difficulty > 0 || pressure > 0);
    return Object.fromEntries(rounded.slice(-MAX_TENANTS));
  }

  return {
    get current() {
      return current;
    },
    publish: () => {
      const state = deps.state();
      if (state === undefined) return false;
      const { running } = state;
      const content = {
        control: withAverages(state.publish(state.serving)),
        ...(running === undefined
          ? {}
          : {
              candidate: {
                rollout_id: running.id,
                stage: running.stage,
                weight: weightOf(running),
                policy: withAverages(state.publish(running.policyVersion)),
              },
            }),
        tenants: tenants(),
      };
      const text = JSON.stringify(content);
      if (text === lastContent) return false;
      lastContent = text;
      const snapshot: RouterSnapshot = {
        format: [content.control, content.candidate?.policy].some(isNew) ? ROUTER_SNAPSHOT_FORMAT : 1,
        snapshot_id: deps.ids.ulid(),
        created_at: new Date(deps.clock.now()).toISOString(),
        ...content,
      };
      current = { compiled: compileSnapshot(snapshot), json: JSON.stringify(snapshot) };
      for (const listener of listeners) listener(current);
      deps.onPublished?.(snapshot);
      return true;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Whether a policy has what a reader of format 1 does not know. */
const isNew = (policy: SnapshotPolicy | undefined): boolean =>
  policy?.features.scorer !== undefined || policy?.settings.reference_cost !== undefined;
const two = (value: number): number => Math.round(value * 100) / 100;
