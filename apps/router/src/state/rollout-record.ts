import type { RouteDecision } from '@sluice/contracts';
import {
  ConfidenceSequence,
  DEFAULT_ROLLOUT,
  RolloutMonitor,
  ShadowMonitor,
  type ConfidenceState,
  type RolloutMonitorState,
  type RolloutStage,
  type ShadowState,
} from '@sluice/routing';
import type { Cause } from './journal.ts';

/** Points of evidence that are kept; when there are more, every second one goes. */
const MAX_POINTS = 240;
const POINT_EVERY = 10;
const CONTROL_ALPHA = 0.025;

export interface HistoryEvent extends Cause {
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
  readonly samples: number;
}

export interface EvidencePoint {
  readonly atMs: number;
  readonly stage: RolloutStage;
  readonly samples: number;
  readonly logBreach: number;
  readonly logPromote: number;
  readonly mean: number;
}

export type RolloutLife = 'created' | 'running' | 'promoted' | 'rolled_back' | 'aborted';

/** A rollout as it is kept; JSON-safe. */
export interface RolloutState {
  readonly id: string;
  readonly policyVersion: string;
  readonly controlVersion: string;
  readonly margin: number;
  readonly createdAtMs: number;
  readonly life: RolloutLife;
  readonly stage: RolloutStage;
  readonly stageSinceMs: number;
  /** What the candidate is held against in this stage. */
  readonly baseline: number;
  readonly shadow?: ShadowState;
  readonly monitor?: RolloutMonitorState;
  readonly control: ConfidenceState;
  readonly controlRewards: { readonly n: number; readonly sum: number };
  readonly candidateRewards: { readonly n: number; readonly sum: number };
  readonly history: readonly HistoryEvent[];
  readonly points: readonly EvidencePoint[];
  readonly pointEvery: number;
}

/** One candidate on its way, with everything that its state machine needs. */
export interface RolloutRecord {
  readonly id: string;
  readonly state: RolloutState;
  readonly life: RolloutLife;
  readonly stage: RolloutStage;
  readonly policyVersion: string;
  /** Samples and logarithms of the e-values of the stage; a shadow has bounds instead of e-values. */
  readonly evidence: { readonly samples: number; readonly logBreach: number; readonly logPromote: number };
  start(cause: Cause, atMs: number): void;
  /** Ends it at once, by a person or by a hard limit. */
  end(life: 'aborted' | 'rolled_back', cause: Cause, atMs: number): void;
  note(event: HistoryEvent): void;
  /**
   * Counts a reward; a candidate's own in the canary stages, in the shadow a control's, weighted.
   *
   * @param shadow what the candidate would have done; asked for in the shadow stage only.
   */
  reward(
    decision: RouteDecision,
    reward: number,
    atMs: number,
    shadow: () => { readonly weight: number; readonly unsupported: number },
  ): void;
}

/** A rollout that begins in the shadow, not started. */
export function newRollout({
  id,
  policyVersion,
  controlVersion,
  margin,
  atMs,
  actor,
  reason,
}: { id: string; policyVersion: string; controlVersion: string; margin: number; atMs: number } & Cause): RolloutState {
  return {
    id,
    policyVersion,
    controlVersion,
    margin,
    createdAtMs: atMs,
    life: 'created',
    stage: 'shadow',
    stageSinceMs: atMs,
    baseline: 0.5,
    control: new ConfidenceSequence(CONTROL_ALPHA).state,
    controlRewards: { n: 0, sum: 0 },
    candidateRewards: { n: 0, sum: 0 },
    history: [{ atMs, from: 'none', to: 'created', actor, reason, samples: 0 }],
    points: [],
    pointEvery: POINT_EVERY,
  };
}

export function createRolloutRecord(saved: RolloutState): RolloutRecord {
  const { policyVersion, margin } = saved;
  let { life, stage, stageSinceMs, baseline, pointEvery } = saved;
  const shadowSettings = {
    margin,
    alphaPromote: DEFAULT_ROLLOUT.alphaPromote,
    alphaBreach: DEFAULT_ROLLOUT.alphaBreach.shadow,
  };
  const shadow =
    saved.shadow === undefined
      ? new ShadowMonitor(shadowSettings)
      : ShadowMonitor.restore(shadowSettings, saved.shadow);
  const control = ConfidenceSequence.restore(CONTROL_ALPHA, saved.control);
  const settings = () => ({ ...DEFAULT_ROLLOUT, policyVersion, baseline, margin });
  let monitor = saved.monitor === undefined ? undefined : RolloutMonitor.restore(settings(), saved.monitor);
  const controlRewards = { n: saved.controlRewards.n, sum: saved.controlRewards.sum };
  let candidateRewards = { n: saved.candidateRewards.n, sum: saved.candidateRewards.sum };
  const history = [...saved.history];
  let points = [...saved.points];

  function evidence(): RolloutRecord['evidence'] {
    if (monitor === undefined) return { samples: shadow.samples, logBreach: 0, logPromote: 0 };
    const { samples, logBreach, logPromote } = monitor.state;
    return { samples, logBreach, logPromote };
  }

  function move(to: RolloutStage, cause: Cause, atMs: number): void {
    history.push({ atMs, from: stage, to, samples: evidence().samples, ...cause });
    stage = to;
    stageSinceMs = atMs;
    if (to === 'rolled_back') life = 'rolled_back';
  }

  /** Held against what the control's mean is at least now, not against a number of some day. */
  function enter(next: RolloutStage, cause: Cause, atMs: number): void {
    move(next, cause, atMs);
    if (next === 'rolled_back') return;
    if (control.state.moments.count > 0) baseline = Math.min(0.999, Math.max(control.lower, margin + 0.001));
    monitor = new RolloutMonitor(settings(), next);
    candidateRewards = { n: 0, sum: 0 };
  }

  function addPoint(atMs: number, mean: number): void {
    const { samples, logBreach, logPromote } = evidence();
    if (samples % pointEvery !== 0) return;
    points.push({ atMs, stage, samples, logBreach, logPromote, mean });
    if (points.length <= MAX_POINTS) return;
    points = points.filter((_, i) => i % 2 === 1);
    pointEvery *= 2;
  }

  function rewardInShadow(
    reward: number,
    atMs: number,
    { weight, unsupported }: { weight: number; unsupported: number },
  ): void {
    shadow.add({ weight, reward, unsupported });
    addPoint(atMs, shadow.loggedMean);
    if (shadow.breach)
      move(
        'rolled_back',
        system(
          `the candidate's value is at most ${shadow.upper.toFixed(3)} by the weighted log; the control has ${shadow.loggedMean.toFixed(3)}`,
        ),
        atMs,
      );
    else if (shadow.promotable)
      enter(
        'canary_1',
        system(
          `${shadow.samples} rated decisions without a breach; by the weighted log at least ${shadow.differenceLower.toFixed(3)} against the control`,
        ),
        atMs,
      );
  }

  function rewardOfCandidate(watch: RolloutMonitor, decision: RouteDecision, reward: number, atMs: number): void {
    const before = watch.state;
    const next = watch.add({ decisionId: decision.decision_id, policyVersion, quality: reward });
    candidateRewards.n += 1;
    candidateRewards.sum += reward;
    const mean = candidateRewards.sum / candidateRewards.n;
    if (next === stage) {
      addPoint(atMs, mean);
      if (
        stage === 'full' &&
        watch.state.samples >= 2_000 &&
        watch.state.logPromote >= -Math.log(DEFAULT_ROLLOUT.alphaPromote)
      ) {
        life = 'promoted';
        history.push({
          atMs,
          from: 'full',
          to: 'promoted',
          samples: watch.state.samples,
          ...system('full traffic held its quality; it is the serving policy now'),
        });
      }
      return;
    }
    points.push({
      atMs,
      stage,
      samples: before.samples + 1,
      logBreach: before.logBreach,
      logPromote: before.logPromote,
      mean,
    });
    const why =
      next === 'rolled_back'
        ? `a breach after ${before.samples + 1} samples: mean quality ${mean.toFixed(3)}, asked ${(baseline - margin).toFixed(3)}`
        : `${before.samples + 1} clean samples with mean quality ${mean.toFixed(3)}, asked ${(baseline - margin).toFixed(3)}`;
    enter(next, system(why), atMs);
  }

  return {
    id: saved.id,
    get state() {
      return {
        ...saved,
        life,
        stage,
        stageSinceMs,
        baseline,
        shadow: shadow.state,
        ...(monitor === undefined ? {} : { monitor: monitor.saved }),
        control: control.state,
        controlRewards: { ...controlRewards },
        candidateRewards: { ...candidateRewards },
        history: [...history],
        points: [...points],
        pointEvery,
      };
    },
    get life() {
      return life;
    },
    get stage() {
      return stage;
    },
    policyVersion,
    get evidence() {
      return evidence();
    },
    start: (cause, atMs) => {
      history.push({ atMs, from: 'created', to: 'shadow', samples: 0, ...cause });
      life = 'running';
      stageSinceMs = atMs;
    },
    end: (how, cause, atMs) => {
      move('rolled_back', cause, atMs);
      life = how;
    },
    note: (event) => void history.push(event),
    reward: (decision, reward, atMs, weighted) => {
      if (life !== 'running') return;
      if (decision.policy_version === policyVersion) {
        if (monitor !== undefined && decision.rollout?.variant === 'candidate')
          rewardOfCandidate(monitor, decision, reward, atMs);
        return;
      }
      if (decision.policy_version !== saved.controlVersion) return;
      control.add(reward);
      controlRewards.n += 1;
      controlRewards.sum += reward;
      if (stage === 'shadow') rewardInShadow(reward, atMs, weighted());
    },
  };
}

const system = (reason: string): Cause => ({ actor: 'system', reason });
