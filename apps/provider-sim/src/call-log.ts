import type { SimCallEntry, SimCalls } from '@sluice/contracts';

/** Ended calls that a provider remembers. */
const HELD_MAX = 50_000;
const PAGE_MAX = 1_000;

export interface CallLog {
  add(entry: Omit<SimCallEntry, 'seq'>): void;
  after(seq: number): SimCalls;
}

/** The last ended calls of a provider, one by one: the witness that names which call a ledger lost or doubled. */
export function createCallLog(heldMax = HELD_MAX): CallLog {
  const ring: SimCallEntry[] = [];
  let last = 0;
  return {
    add(entry) {
      last += 1;
      ring[(last - 1) % heldMax] = { seq: last, ...entry };
    },
    after(seq) {
      const first = Math.max(seq, last - ring.length) + 1;
      const calls: SimCallEntry[] = [];
      for (let at = first; at <= last && calls.length < PAGE_MAX; at += 1)
        calls.push(ring[(at - 1) % heldMax] as SimCallEntry);
      return { calls, dropped: Math.max(0, Math.min(first, last + 1) - 1 - seq) };
    },
  };
}
