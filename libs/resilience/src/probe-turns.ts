/** Parties that are remembered; who asked first is forgotten first. */
const MAX_PARTIES = 64;
/** What a party is told to wait while another has the next turn. */
const TURN_MS = 1_000;

export interface ProbeTurnsOptions {
  /** A probe without an answer gives its place to the same party again after this long, milliseconds. */
  readonly probeTimeoutMs: number;
  /** And to another party after this long. */
  readonly takeoverMs: number;
}

interface Party {
  askedAtMs: number;
  failures: number;
}

/**
 * Who may try next whether something works again: one call at a time, and none before the rest is over. Parties take
 * turns. While a party with fewer failed probes has asked within the last rest, the others wait for it: so a party whose
 * own calls fail whatever the provider does cannot keep taking the probe that would bring everybody back. All times
 * are monotonic milliseconds.
 */
export class ProbeTurns {
  readonly #options: ProbeTurnsOptions;
  readonly #parties = new Map<string, Party>();
  #restMs: number;
  #nextAtMs: number;
  #holder: string | undefined;
  #heldSinceMs = -Infinity;

  /** Rests for `restMs` from `nowMs` on. */
  constructor(options: ProbeTurnsOptions, restMs: number, nowMs: number) {
    this.#options = options;
    this.#restMs = restMs;
    this.#nextAtMs = nowMs + restMs;
  }

  /** How long nobody could try after the last failed probe, milliseconds. */
  get restMs(): number {
    return this.#restMs;
  }

  /** When the next probe may go, should nobody answer the one that is out. */
  get nextAtMs(): number {
    return this.#freeAtMs(undefined);
  }

  /** Takes the place of a probe for a party; false when it must wait. */
  tryTake(party: string, nowMs: number): boolean {
    this.#note(party, nowMs);
    if (this.waitMs(party, nowMs) > 0) return false;
    this.#holder = party;
    this.#heldSinceMs = nowMs;
    return true;
  }

  /** How long the party waits at least, milliseconds; 0 when it may try now. Takes nothing. */
  waitMs(party: string, nowMs: number): number {
    const waitMs = this.#freeAtMs(party) - nowMs;
    if (waitMs > 0) return waitMs;
    const failures = this.#parties.get(party)?.failures ?? 0;
    for (const other of this.#parties.values())
      if (other.failures < failures && nowMs - other.askedAtMs <= this.#restMs) return TURN_MS;
    return 0;
  }

  /** The probe of this party met the failure once more: nobody tries for `restMs`. Nothing for who held no probe. */
  failed(party: string, restMs: number, nowMs: number): void {
    if (this.#holder !== party) return;
    this.giveBack(party);
    this.#restMs = restMs;
    this.#nextAtMs = nowMs + restMs;
  }

  /** A probe ended without a word about what is asked: the next may go at once. Counts as a turn of its party. */
  giveBack(party: string): void {
    if (this.#holder !== party) return;
    this.#holder = undefined;
    const own = this.#parties.get(party);
    if (own !== undefined) own.failures += 1;
  }

  /** Leaves a place that was taken just now and not used. */
  leave(party: string): void {
    if (this.#holder === party) this.#holder = undefined;
  }

  #freeAtMs(party: string | undefined): number {
    if (this.#holder === undefined) return this.#nextAtMs;
    const { probeTimeoutMs, takeoverMs } = this.#options;
    return this.#heldSinceMs + (party === this.#holder ? probeTimeoutMs : Math.min(takeoverMs, probeTimeoutMs));
  }

  #note(party: string, nowMs: number): void {
    const known = this.#parties.get(party);
    if (known !== undefined) known.askedAtMs = nowMs;
    else {
      if (this.#parties.size >= MAX_PARTIES) this.#parties.delete(this.#parties.keys().next().value as string);
      this.#parties.set(party, { askedAtMs: nowMs, failures: 0 });
    }
  }
}
