import type { Clock } from '@sluice/contracts';
import { createBreaker, type Breaker, type BreakerChange, type BreakerPass, type BreakerReach } from './breaker.ts';

export const BREAKER_OPTIONS = {
  failurePercent: 20,
  windowMs: 30_000,
  minimumCalls: 20,
  cooldownMs: 10_000,
  probes: 3,
  probeTimeoutMs: 60_000,
};

export interface SimulatedTenant {
  readonly id: string;
  readonly perSecond: number;
  readonly fromMs?: number;
}

export interface Scenario {
  readonly tenants: readonly SimulatedTenant[];
  readonly seconds: number;
  /** The `n`th call of a tenant fails, when it is sent at this time. */
  fails(id: string, atMs: number, n: number): boolean;
  /** Until an answer is over, and until its first content has come. */
  readonly answerMs?: number;
  readonly contentMs?: number;
}

/** What became of a tenant's calls. */
export interface Served {
  calls: number;
  ok: number;
  failed: number;
  /** Not let through: the next provider of the chain would answer. */
  elsewhere: number;
  firstElsewhereMs: number | undefined;
  lastElsewhereMs: number | undefined;
}

export interface Simulated {
  of(id: string): Served;
  readonly all: readonly Served[];
  readonly changes: readonly (BreakerChange & { readonly atMs: number })[];
  /** The report each second. */
  readonly reports: readonly BreakerReach[];
  readonly breaker: Breaker;
}

type Happening =
  | { readonly atMs: number; readonly what: 'arrives'; readonly id: string }
  | { readonly atMs: number; readonly what: 'content'; readonly pass: BreakerPass }
  | { readonly atMs: number; readonly what: 'ends'; readonly id: string; readonly pass: BreakerPass; failed: boolean }
  | { readonly atMs: number; readonly what: 'report' };

/**
 * Tenants call through a breaker on a clock of its own, at times drawn around their rates from a fixed seed. Whoever
 * is refused does not wait, as with a chain that has another provider.
 */
export function simulateBreaker(clock: Clock & { advance(ms: number): void }, scenario: Scenario): Simulated {
  const { tenants, seconds, answerMs = 300, contentMs = answerMs / 3 } = scenario;
  const changes: (BreakerChange & { atMs: number })[] = [];
  const breaker = createBreaker({
    clock,
    options: BREAKER_OPTIONS,
    onChange: (change) => changes.push({ ...change, atMs: clock.monotonic() - startMs }),
  });
  const startMs = clock.monotonic();
  const random = seeded(7);
  const served = new Map<string, Served>();
  const reports: BreakerReach[] = [];
  const queue: Happening[] = [];
  for (const { id, perSecond, fromMs = 0 } of tenants) {
    served.set(id, {
      calls: 0,
      ok: 0,
      failed: 0,
      elsewhere: 0,
      firstElsewhereMs: undefined,
      lastElsewhereMs: undefined,
    });
    const every = 1_000 / perSecond;
    for (let atMs = fromMs + random() * every; atMs < seconds * 1_000; atMs += every * (0.5 + random()))
      queue.push({ atMs, what: 'arrives', id });
  }
  for (let second = 1; second <= seconds; second++) queue.push({ atMs: second * 1_000, what: 'report' });
  queue.sort((a, b) => a.atMs - b.atMs);
  /** Answers of all calls take equally long, so these two are in order by themselves. */
  const contents: Happening[] = [];
  const ends: Happening[] = [];
  const lists = [queue, contents, ends].map((list) => ({ list, next: 0 }));
  for (let next = takeFirst(); next !== undefined; next = takeFirst()) {
    clock.advance(Math.max(0, startMs + next.atMs - clock.monotonic()));
    happen(next);
  }
  return {
    of: (id) => served.get(id) as Served,
    all: [...served.values()],
    changes,
    reports,
    breaker,
  };

  function takeFirst(): Happening | undefined {
    let first = lists[0] as (typeof lists)[number];
    for (const other of lists)
      if ((other.list[other.next]?.atMs ?? Infinity) < (first.list[first.next]?.atMs ?? Infinity)) first = other;
    return first.list[first.next++];
  }

  function happen(next: Happening): void {
    switch (next.what) {
      case 'report':
        reports.push(breaker.report());
        return;
      case 'content':
        next.pass.answers();
        return;
      case 'ends':
        if (next.failed) next.pass.fail();
        else next.pass.succeed();
        (served.get(next.id) as Served)[next.failed ? 'failed' : 'ok'] += 1;
        return;
      case 'arrives':
        arrive(next.id, next.atMs);
    }
  }

  function arrive(id: string, atMs: number): void {
    const figures = served.get(id) as Served;
    const failed = scenario.fails(id, atMs, figures.calls);
    figures.calls += 1;
    const pass = breaker.tryEnter(id);
    if (pass === undefined) {
      figures.elsewhere += 1;
      figures.firstElsewhereMs ??= atMs;
      figures.lastElsewhereMs = atMs;
      return;
    }
    if (!failed) contents.push({ atMs: atMs + contentMs, what: 'content', pass });
    ends.push({ atMs: atMs + answerMs, what: 'ends', id, pass, failed });
  }
}

/** A linear congruential generator (Numerical Recipes), uniform in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32;
}
