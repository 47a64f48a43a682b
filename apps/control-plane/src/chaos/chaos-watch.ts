import type { ChaosCheck, ChaosReport, Clock, OperatorState } from '@sluice/contracts';
import type { Expectation } from './expectations.ts';
import { describe, observe } from './observe.ts';
import type { RunningChaos } from './running-chaos.ts';

/**
 * Watches failures that were started on purpose and judges what was expected of them, second by second, from the
 * live picture.
 */
export interface ChaosWatch {
  /** From now on. A failure of the same kind and target that is still watched ends. */
  started(action: RunningChaos, expectations: readonly Expectation[]): void;
  /** It is over, by its time or because somebody stopped it. */
  ended(id: string): void;
  /** True while anything is open, so that the picture has to be built. */
  readonly watching: boolean;
  /** One second of judging. */
  beat(picture: OperatorState): void;
  /** Newest first. */
  reports(): ChaosReport[];
}

/** What calls became is reported by gateways up to this long after it happened. */
const LAG_MS = 3_000;
const KEPT = 12;

type Verdict = ChaosCheck['verdict'];

interface Check {
  readonly expectation: Expectation;
  observed: string;
  verdict: Verdict;
  /** Nothing changes it any more. */
  final: boolean;
}

interface WatchedAction {
  readonly action: RunningChaos;
  readonly startedAtMs: number;
  endedAtMs: number | undefined;
  readonly checks: Check[];
}

export function createChaosWatch({
  clock,
  picture: pictureNow,
}: {
  clock: Pick<Clock, 'now'>;
  picture: () => OperatorState;
}): ChaosWatch {
  /** Newest first. */
  let watched: (WatchedAction & { readonly before: OperatorState })[] = [];

  function judge(one: (typeof watched)[number], check: Check, picture: OperatorState): void {
    const { expectation } = check;
    const now = clock.now();
    const isAfter = expectation.phase === 'after';
    if (check.final || (isAfter && one.endedAtMs === undefined)) return;
    const sinceMs = isAfter ? (one.endedAtMs ?? now) : one.startedAtMs;
    const from = Math.floor(sinceMs / 1000) + expectation.skipS;
    const to = isAfter || one.endedAtMs === undefined ? Infinity : Math.floor(one.endedAtMs / 1000);
    const { observed, holds } = observe(expectation, { picture, before: one.before, from, to });
    check.observed = observed;
    const over = !isAfter && one.endedAtMs !== undefined && now >= one.endedAtMs + LAG_MS;
    const late = over || now >= sinceMs + expectation.withinS * 1000 + LAG_MS;
    if (expectation.mode === 'always') {
      if (holds !== undefined) check.verdict = holds ? 'holds' : 'failed';
      check.final = holds === false || over;
    } else if (holds === true) {
      check.verdict = 'holds';
      check.final = true;
    } else if (late) {
      check.verdict = holds === undefined ? 'unproven' : 'failed';
      check.final = true;
    }
    if (check.final && check.verdict === 'waiting') check.verdict = 'unproven';
  }

  return {
    started(action, expectations) {
      const startedAtMs = clock.now();
      for (const one of watched)
        if (one.action.kind === action.kind && one.action.target === action.target) one.endedAtMs ??= startedAtMs;
      const checks = expectations.map((expectation): Check => ({
        expectation,
        observed: 'not looked at yet',
        verdict: 'waiting',
        final: false,
      }));
      watched = [{ action, startedAtMs, endedAtMs: undefined, checks, before: pictureNow() }, ...watched].slice(
        0,
        KEPT,
      );
    },
    ended(id) {
      const one = watched.find(({ action }) => action.id === id);
      if (one !== undefined) one.endedAtMs ??= clock.now();
    },
    get watching() {
      return watched.some(({ checks }) => checks.some(({ final }) => !final));
    },
    beat(picture) {
      for (const one of watched) for (const check of one.checks) judge(one, check, picture);
    },
    reports: () =>
      watched.map(({ action, startedAtMs, endedAtMs, checks }) => ({
        id: action.id,
        kind: action.kind,
        target: action.target,
        started_at: new Date(startedAtMs).toISOString(),
        ends_at: endedAtMs === undefined ? action.ends_at : new Date(endedAtMs).toISOString(),
        phase:
          endedAtMs === undefined
            ? ('running' as const)
            : checks.every(({ final }) => final)
              ? ('done' as const)
              : ('recovering' as const),
        checks: checks.map(({ expectation, observed, verdict }) => ({
          expected: describe(expectation),
          observed,
          verdict,
          phase: expectation.phase,
        })),
      })),
  };
}
