import type { Outcome } from '@sluice/contracts';

/** A tenant that means harm. Its plan is a small one: 5 requests a second, a few calls at a time. */
export interface Attacker {
  readonly tenant: string;
  /** Of all of its workspaces; at least one. */
  readonly keys: readonly [string, ...string[]];
}

/** Where an attack goes. Plain data, because an attack runs in a thread of its own. */
export interface AttackTarget {
  /** Base URL of the gateway. */
  readonly url: string;
  readonly attackers: readonly [Attacker, Attacker];
  /** How long the attack goes on. */
  readonly seconds: number;
  /** Multiplies what an attack sends at once; 1 is the size that its sentence states. */
  readonly scale: number;
}

/** How the attackers' own calls ended. */
export type Tally = Partial<Record<Outcome | 'unreachable', number>>;

/** One way to hurt neighbours. */
export interface Attack {
  readonly name: string;
  /** What the attackers do, in a sentence. */
  readonly text: string;
  /** Seconds that it needs to show what it can do, where that is more than the caller's choice. */
  readonly atLeastSeconds?: number;
  run(target: AttackTarget): Promise<Tally>;
  /** What is wrong with how the attackers' calls ended; empty when it is as it must be. */
  judge?(tally: Tally, target: AttackTarget): string[];
}

/** Adds what one call came to. */
export function count(tally: Tally, outcome: Outcome | 'unreachable'): void {
  tally[outcome] = (tally[outcome] ?? 0) + 1;
}

/** A complaint when the attackers met none of `outcome`: then the attack was none, and nothing is proven. */
export function wants(tally: Tally, outcome: Outcome): string[] {
  return (tally[outcome] ?? 0) > 0 ? [] : [`none of the attackers' calls ended as ${outcome}, so nothing is proven`];
}

/** A complaint when an attacker met `outcome`. */
export function wantsNo(tally: Tally, outcome: Outcome | 'unreachable'): string[] {
  const met = tally[outcome] ?? 0;
  return met === 0 ? [] : [`${met} of the attackers' calls ended as ${outcome}`];
}
