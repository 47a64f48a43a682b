import { EventWindow } from './event-window.ts';

/** Parties that are remembered at most; beyond it the one known longest is forgotten. */
const MAX_PARTIES = 1_000;
/** Failures of everybody but the worst party from which on they are no chance. */
const MINIMUM_OF_OTHERS = 2;

/**
 * Verdicts by party within a window. What one party alone meets while others are served is that party's (requests that
 * take too long, or that the provider cannot digest), and no reason to stop everybody.
 */
export class Blame {
  readonly #windowMs: number;
  readonly #parties = new Map<string, EventWindow>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  note(party: string, failed: boolean, nowMs: number): void {
    let verdicts = this.#parties.get(party);
    if (verdicts === undefined) {
      if (this.#parties.size >= MAX_PARTIES) this.#parties.delete(this.#parties.keys().next().value as string);
      this.#parties.set(party, (verdicts = new EventWindow(this.#windowMs)));
    }
    verdicts.add(failed ? 1 : 0, failed ? 0 : 1, nowMs);
  }

  /**
   * Without the party that failed most, the others would not have opened the breaker; false where there are no others.
   *
   * @param failurePercent share of failures that opens it.
   */
  isOneParty(failurePercent: number, nowMs: number): boolean {
    let failures = 0;
    let calls = 0;
    let worstFailures = 0;
    let worstCalls = 0;
    for (const verdicts of this.#parties.values()) {
      const failed = verdicts.first(nowMs);
      const all = failed + verdicts.second(nowMs);
      failures += failed;
      calls += all;
      if (failed > worstFailures) [worstFailures, worstCalls] = [failed, all];
    }
    const others = calls - worstCalls;
    const otherFailures = failures - worstFailures;
    return others > 0 && (otherFailures < MINIMUM_OF_OTHERS || otherFailures * 100 < failurePercent * others);
  }

  clear(): void {
    this.#parties.clear();
  }
}
