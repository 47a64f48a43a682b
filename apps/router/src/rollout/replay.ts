import type { ReplayRollout, RouteDecision, RolloutView } from '@sluice/contracts';
import { STAGE_WEIGHT } from '@sluice/routing';
import { createRolloutRecord, newRollout, type RolloutRecord } from '../state/rollout-record.ts';
import { rolloutView } from './rollout-view.ts';

/** Requests between two looks at the real clock. */
const SLICE = 2_000;
/** Replays that are kept to be looked at. */
const KEPT = 20;

export interface Replays {
  /** Begins a replay and returns at once; it runs on in the background. */
  start(order: ReplayRollout, id: string, nowMs: number): RolloutView;
  view(id: string, nowMs: number): RolloutView | undefined;
  views(nowMs: number): RolloutView[];
  close(): Promise<void>;
}

interface Replay {
  readonly record: RolloutRecord;
  /** The replay's own clock, epoch milliseconds. */
  now: number;
}

/**
 * Rollouts on simulated decisions by a clock of their own: the same record and monitors as a live one, on requests
 * of which the stage's share goes to the candidate and each has a quality of 0 or 1. They touch no learned model
 * and no snapshot.
 */
export function createReplays(): Replays {
  const replays = new Map<string, Replay>();
  const running = new Set<Promise<void>>();
  let closed = false;

  async function run(
    replay: Replay,
    { control_quality, candidate_quality, requests_per_second, seconds, seed }: ReplayRollout,
  ): Promise<void> {
    const random = createUniform(seed);
    const { record } = replay;
    const started = performance.now();
    const decisions = {
      control: simulated('replay-control', 'control'),
      candidate: simulated('replay-candidate', 'candidate'),
    };
    for (let request = 0; record.life === 'running' && !closed; request += 1) {
      replay.now += 1000 / requests_per_second;
      const variant = random() < STAGE_WEIGHT[record.stage] ? 'candidate' : 'control';
      const quality = random() < (variant === 'candidate' ? candidate_quality : control_quality) ? 1 : 0;
      // In the shadow the candidate would choose differently in one of ten requests.
      const differs = random() < 0.1;
      const decision = { ...decisions[variant], decision_id: `replay-${request}` };
      record.reward(decision, quality, replay.now, () => ({ weight: differs ? 0.8 : 1 + 0.2 / 9, unsupported: 0 }));
      if (request % SLICE !== 0) continue;
      if (performance.now() - started > seconds * 1000) {
        record.end('aborted', { actor: 'system', reason: `the replay took longer than ${seconds} s` }, replay.now);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  const viewOf = (replay: Replay): RolloutView =>
    rolloutView(replay.record, { clock: 'replay', hard: [], nowMs: replay.now });

  return {
    start: (order, id, nowMs) => {
      const cause = { actor: order.actor.id, reason: order.reason };
      const record = createRolloutRecord(
        newRollout({
          id,
          policyVersion: 'replay-candidate',
          controlVersion: 'replay-control',
          margin: 0.03,
          atMs: nowMs,
          ...cause,
        }),
      );
      record.start(cause, nowMs);
      const replay = { record, now: nowMs };
      replays.set(id, replay);
      if (replays.size > KEPT) replays.delete(replays.keys().next().value as string);
      const done = run(replay, order).finally(() => running.delete(done));
      running.add(done);
      return viewOf(replay);
    },
    view: (id) => {
      const replay = replays.get(id);
      return replay === undefined ? undefined : viewOf(replay);
    },
    views: () => [...replays.values()].map(viewOf),
    close: async () => {
      closed = true;
      await Promise.all(running);
    },
  };
}

/** The fields of a decision that a rollout looks at. */
function simulated(policyVersion: string, variant: 'control' | 'candidate'): RouteDecision {
  return {
    policy_version: policyVersion,
    rollout: { id: '', stage: 'shadow', variant, weight: 0 },
  } as unknown as RouteDecision;
}

/** Reproducible uniform draws in [0, 1) (Mulberry32). */
function createUniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
