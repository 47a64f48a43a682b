import type { Clock } from '@sluice/contracts';

export interface PartyRatesOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** What each party may take, per second and at once. */
  readonly perSecond: number;
  readonly burst: number;
  /** Parties remembered; of more, the one that asked longest ago starts with a full bucket. Default 20,000. */
  readonly kept?: number;
}

/** A share of something for each party: one that takes too much waits, and nobody else does. */
export interface PartyRates {
  /** Milliseconds until the party may take something; 0 when it may now. Takes nothing. */
  waitMs(party: string): number;
  /**
   * Takes `units` (default 1) when anything is left, and more than is left becomes a debt that is waited for. The
   * milliseconds to wait when nothing was taken; 0 otherwise.
   */
  take(party: string, units?: number): number;
}

/** A token bucket for each party. */
export function createPartyRates({ clock, perSecond, burst, kept = 20_000 }: PartyRatesOptions): PartyRates {
  const parties = new Map<string, { units: number; atMs: number }>();

  function leftOf(party: string): number {
    const entry = parties.get(party);
    if (entry === undefined) return burst;
    return Math.min(burst, entry.units + ((clock.monotonic() - entry.atMs) / 1000) * perSecond);
  }

  const waitFor = (left: number): number => (left >= 1 ? 0 : Math.ceil(((1 - left) / perSecond) * 1000));

  return {
    waitMs: (party) => waitFor(leftOf(party)),
    take(party, units = 1) {
      const left = leftOf(party);
      const waitMs = waitFor(left);
      if (waitMs > 0) return waitMs;
      parties.delete(party);
      parties.set(party, { units: left - units, atMs: clock.monotonic() });
      const [oldest] = parties.size > kept ? parties.keys() : [];
      if (oldest !== undefined) parties.delete(oldest);
      return 0;
    },
  };
}
