import type { Clock } from '@sluice/contracts';
import { EventWindow } from '../src/event-window.ts';

/**
 * The closed path of a breaker that all tenants share and that does not know them: one window of verdicts. What the
 * judgement by tenants is measured against.
 */
export function createSharedBreaker(clock: Clock, windowMs: number) {
  const window = new EventWindow(windowMs);
  const judge = (failed: boolean): boolean => {
    const now = clock.monotonic();
    window.add(failed ? 1 : 0, failed ? 0 : 1, now);
    const failures = window.first(now);
    const calls = failures + window.second(now);
    return calls >= 20 && failures * 100 >= 20 * calls;
  };
  return { tryEnter: () => new SharedPass(judge) };
}

class SharedPass {
  readonly #judge: (failed: boolean) => boolean;
  #answered = false;
  opened = false;

  constructor(judge: (failed: boolean) => boolean) {
    this.#judge = judge;
  }

  succeed(): void {
    if (this.#answered) return;
    this.#answered = true;
    this.opened = this.#judge(false);
  }
}
