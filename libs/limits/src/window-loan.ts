/** Use that the authority may not have counted yet. */
export interface PendingUse {
  units: number;
  /** When it was used, epoch milliseconds, and the step of the window in which that is. */
  readonly atMs: number;
  readonly stepMs: number;
  /** The exchange that carried it first; 0 while none has. */
  sentIn: number;
}

/** Beyond this many entries later use is added to the last one: it is never lost, only dated a little early. */
const MAX_ENTRIES = 1_000;

/**
 * What one gateway holds of a quota window: units that are lent to it and free, reserved by running calls, or used
 * and not reported. While the authority is reached, it counts the sum of the three as reserved. Whole units.
 */
export class WindowLoan {
  free = 0;
  /** Reserved by running calls. */
  out = 0;
  /** Used and not confirmed by the authority. */
  pending = 0;
  uses: PendingUse[] = [];
  /** Below this much free more is asked for in the background. */
  low = -Infinity;
  /** The window came in force here after calls of its level had been counted without it; the authority is to hear so. */
  late = false;
  /** Units that a call usually needs. */
  typical = 0;
  /** What the authority was last told that this gateway holds. */
  heldSent = 0;
  /**
   * The connection in which the authority was told what this gateway remembers of the window's use, and heard it;
   * see `TierTenant.losses`.
   */
  rememberedSent = -1;
  rememberedHeard = -1;

  /** Uses in the same step share an entry. */
  use(units: number, atMs: number, stepMs: number): void {
    if (units === 0) return;
    this.pending += units;
    const last = this.uses[this.uses.length - 1];
    if (last !== undefined && last.sentIn === 0 && (this.uses.length >= MAX_ENTRIES || stepMs === last.stepMs))
      last.units += units;
    else this.uses.push({ units, atMs, stepMs, sentIn: 0 });
  }

  /** Everything that is not confirmed, as units, time and exchange, for exchange `number`. */
  report(number: number): number[] {
    const flat: number[] = [];
    for (const use of this.uses) {
      if (use.sentIn === 0) use.sentIn = number;
      flat.push(use.units, use.atMs, use.sentIn);
    }
    return flat;
  }

  /** The authority has counted what exchanges up to `number` carried. */
  confirm(number: number): void {
    if (this.uses.length === 0) return;
    this.uses = this.uses.filter((use) => use.sentIn === 0 || use.sentIn > number);
    this.pending = 0;
    for (const { units } of this.uses) this.pending += units;
  }
}

/** Moves an average towards the newest figure; the first one is the average. */
export function average(before: number, newest: number): number {
  return before === 0 ? newest : before + (newest - before) / 8;
}
