import type { SimFault } from '@sluice/contracts';
import { hashOf } from './sim-call.ts';

export interface FaultSwitch {
  readonly current: SimFault | undefined;
  set(fault: SimFault): void;
  clear(): void;
  /** The fault that hits the next call, by a sequence that starts anew with every `set`. */
  draw(): SimFault | undefined;
}

/**
 * One provider's fault. `changed` hears every change, the expiry after `seconds` included.
 *
 * The sequence is mulberry32 (Tommy Ettinger), seeded by the provider's name: a rate hits the same calls in every run.
 */
export function createFaultSwitch(provider: string, changed: (fault: SimFault | undefined) => void): FaultSwitch {
  let current: SimFault | undefined;
  let expiry: NodeJS.Timeout | undefined;
  let state = 0;

  function random(): number {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  function change(fault: SimFault | undefined): void {
    clearTimeout(expiry);
    current = fault;
    changed(fault);
  }

  return {
    get current() {
      return current;
    },
    set(fault) {
      state = hashOf(provider);
      change(fault);
      if (fault.seconds === undefined) return;
      expiry = setTimeout(() => change(undefined), fault.seconds * 1000);
      expiry.unref();
    },
    clear: () => change(undefined),
    draw() {
      if (current === undefined) return undefined;
      return current.rate === undefined || random() < current.rate ? current : undefined;
    },
  };
}
