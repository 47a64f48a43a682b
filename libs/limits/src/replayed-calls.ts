import type { EventOrigin } from '@sluice/contracts';
import { meterUnits } from './admission.ts';
import { readStatement } from './settled-track.ts';
import type { TierLevel } from './tier-level.ts';
import type { WindowLoan } from './window-loan.ts';

/** A settled call from the outbox of an earlier process, of which the authority may have heard already. */
export interface ReplayedCall {
  readonly levels: readonly TierLevel[];
  readonly origin: Pick<EventOrigin, 'epoch' | 'sequence'>;
  readonly input: number;
  readonly output: number;
  readonly cost: number;
  /** When it was used, epoch milliseconds. */
  readonly usedAtMs: number;
  /** The checkpoint that this gateway brought along holds it. */
  readonly saved: boolean;
}

/** What the authority knows of one level. */
export interface CountedOfLevel {
  /** The last statement of this gateway about the level (see `SettledTrack`); empty when there was none. */
  readonly statement: string;
  /** For each of its windows whether anything was ever counted there. */
  readonly known: readonly boolean[];
}

/**
 * Adds to the use that is to be reported what the authority has not counted, exactly. A window of which it knows
 * nothing is told what the checkpoint holds, so there only calls beyond the checkpoint are added.
 */
export function addUncounted(
  calls: readonly ReplayedCall[],
  levels: readonly TierLevel[],
  counted: readonly CountedOfLevel[],
): void {
  const byLevel = new Map(
    levels.map((level, i) => [
      level,
      { has: readStatement(counted[i]?.statement ?? ''), known: counted[i]?.known ?? [] },
    ]),
  );
  for (const { levels: of, origin, input, output, cost, usedAtMs, saved } of calls) {
    for (const level of of) {
      const there = byLevel.get(level);
      if (there === undefined || there.has(origin)) continue;
      for (const [i, window] of level.windows.entries()) {
        if (saved && there.known[i] !== true) continue;
        const units = meterUnits(window.meter, input, output, cost);
        (window.loan as WindowLoan).use(units, usedAtMs, window.counter.stepStart(usedAtMs));
      }
    }
  }
}

/** The levels of these calls, each once. */
export function levelsOf(calls: readonly ReplayedCall[]): TierLevel[] {
  return [...new Set(calls.flatMap(({ levels }) => levels))];
}
