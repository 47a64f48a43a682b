import { createFakeClock } from '@sluice/testing';
import { createRetryBudget } from './retry-budget.ts';

describe('createRetryBudget', () => {
  it('lets a tenth of the requests be retries', () => {
    const budget = createRetryBudget({ clock: createFakeClock() });
    for (let i = 0; i < 1000; i++) budget.recordRequest();
    const granted = Array.from({ length: 500 }, () => budget.tryRetry()).filter(Boolean);
    expect(granted).toHaveLength(100);
    expect(budget.report()).toEqual({ requests: 1000, retries: 100, allowed: 100 });
  });

  it('keeps a small reserve for a quiet provider, and gives it again after the window', () => {
    const clock = createFakeClock();
    const budget = createRetryBudget({ clock, minimumRetries: 2, windowMs: 10_000 });
    expect([budget.tryRetry(), budget.tryRetry(), budget.tryRetry()]).toEqual([true, true, false]);
    clock.advance(10_000);
    expect(budget.tryRetry()).toBe(true);
  });

  it('forgets requests with the window', () => {
    const clock = createFakeClock();
    const budget = createRetryBudget({ clock });
    for (let i = 0; i < 1000; i++) budget.recordRequest();
    clock.advance(20_000);
    expect(budget.report()).toEqual({ requests: 0, retries: 0, allowed: 3 });
  });
});
