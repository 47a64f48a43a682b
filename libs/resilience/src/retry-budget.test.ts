import fc from 'fast-check';
import { createFakeClock } from '@sluice/testing';
import { createRetryBudget, type RetryBudget } from './retry-budget.ts';

const WINDOW_MS = 10_000;
const requests = (budget: RetryBudget, tenantId: string, count: number): void => {
  for (let i = 0; i < count; i++) budget.recordRequest(tenantId);
};
/** How many of so many retries are granted. */
const granted = (budget: RetryBudget, tenantId: string, count: number): number =>
  Array.from({ length: count }, () => budget.tryRetry(tenantId)).filter(Boolean).length;

describe('createRetryBudget', () => {
  it('lets a tenth of the requests be retries', () => {
    const budget = createRetryBudget({ clock: createFakeClock() });
    requests(budget, 'acme', 1000);
    expect(granted(budget, 'acme', 500)).toBe(100);
    expect(budget.report()).toEqual({ requests: 1000, retries: 100, allowed: 100, tenants: 1 });
  });

  it('keeps a small reserve for a quiet provider, which one tenant cannot use up, and gives it again after the window', () => {
    const clock = createFakeClock();
    const budget = createRetryBudget({ clock, minimumRetries: 3, tenantMinimum: 2, windowMs: WINDOW_MS });
    expect([granted(budget, 'acme', 9), granted(budget, 'globex', 9), granted(budget, 'initech', 9)]).toEqual([
      2, 1, 0,
    ]);
    clock.advance(WINDOW_MS);
    expect(budget.tryRetry('acme')).toBe(true);
  });

  it('forgets requests, and the tenants that made them, with the window', () => {
    const clock = createFakeClock();
    const budget = createRetryBudget({ clock });
    for (let i = 0; i < 1000; i++) budget.recordRequest(`tenant-${i}`);
    clock.advance(WINDOW_MS / 2);
    for (let i = 0; i < 10; i++) budget.recordRequest(`tenant-${i}`);
    expect(budget.report().tenants).toBe(1000);
    clock.advance(WINDOW_MS / 2);
    expect(budget.report()).toEqual({ requests: 10, retries: 0, allowed: 3, tenants: 10 });
    clock.advance(WINDOW_MS * 2);
    expect(budget.report()).toEqual({ requests: 0, retries: 0, allowed: 3, tenants: 0 });
  });

  it('a tenant whose calls all fail has a tenth of its own, and the transient failures of the others are retried as if it were not there', () => {
    const budget = createRetryBudget({ clock: createFakeClock() });
    requests(budget, 'acme', 300);
    requests(budget, 'failing', 600);
    requests(budget, 'new', 5);
    expect(granted(budget, 'failing', 600)).toBe(60);
    expect(granted(budget, 'acme', 30)).toBe(30);
    const crowd = createRetryBudget({ clock: createFakeClock() });
    for (let i = 0; i < 100; i++) requests(crowd, `small-${i}`, 5);
    expect(granted(crowd, 'small-0', 50)).toBe(2);
    expect(Array.from({ length: 40 }, (_, i) => granted(crowd, `small-${i + 1}`, 1))).toEqual(
      Array<number>(40).fill(1),
    );
  });

  it('a tenant with a few calls that all fail takes nothing that another has a right to', () => {
    const budget = createRetryBudget({ clock: createFakeClock() });
    requests(budget, 'failing', 5);
    requests(budget, 'acme', 100);
    expect(granted(budget, 'failing', 10)).toBe(0);
    expect(granted(budget, 'acme', 10)).toBe(10);
  });

  it('two tenants whose calls all fail, and one that has a failure now and then: each of its failures is retried', () => {
    const clock = createFakeClock();
    const budget = createRetryBudget({ clock });
    const retried = { attacker: 0, other: 0, healthy: 0 };
    let blips = 0;
    // A minute: two with 20 calls a second that all fail, one with 8 of which one in 16 fails.
    for (let tick = 0; tick < 60 * 40; tick++) {
      clock.advance(25);
      if (tick % 2 === 0) {
        for (const attacker of ['attacker', 'other'] as const) {
          budget.recordRequest(attacker);
          if (budget.tryRetry(attacker)) retried[attacker]++;
        }
      }
      if (tick % 5 !== 0) continue;
      budget.recordRequest('healthy');
      // Its own tenth begins with its tenth call in the window.
      if (tick % 80 !== 0 || tick < 400) continue;
      blips++;
      if (budget.tryRetry('healthy')) retried.healthy++;
    }
    expect(blips).toBeGreaterThan(20);
    expect(retried.healthy).toBe(blips);
    expect(retried.attacker).toBeLessThanOrEqual(1_200 * 0.12);
    expect(retried.other).toBeLessThanOrEqual(1_200 * 0.12);
  });

  const TENANTS = ['a', 'b', 'c', 'd'];
  const tenant = fc.constantFrom(...TENANTS);
  const act = fc.oneof(
    fc.record({ kind: fc.constant('requests' as const), tenant, count: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant('retries' as const), tenant, count: fc.integer({ min: 1, max: 12 }) }),
    fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 4_000 }), fc.constant(11_000)),
    }),
  );

  it('whatever happens: the bound of the provider holds, nobody goes beyond its own part, and whoever is within it is refused by that bound alone', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const clock = createFakeClock();
        const budget = createRetryBudget({ clock });
        const events: { step: number; tenantId: string; retry: boolean }[] = [];
        const step = (): number => Math.floor(clock.monotonic() / (WINDOW_MS / 10));
        const count = (retry: boolean, of?: string): number =>
          events.filter(
            (event) => event.step > step() - 10 && event.retry === retry && (of === undefined || event.tenantId === of),
          ).length;
        const own = (of: string): number => Math.floor(count(false, of) / 10);
        for (const next of acts) {
          if (next.kind === 'wait') clock.advance(next.ms);
          else
            for (let i = 0; i < next.count; i++) {
              const tenantId = next.tenant;
              if (next.kind === 'requests') budget.recordRequest(tenantId);
              else {
                const left = Math.max(3, Math.floor(count(false) / 10)) - count(true);
                const [mine, made] = [own(tenantId), count(true, tenantId)];
                const keptForOthers = TENANTS.filter((of) => of !== tenantId).reduce(
                  (sum, of) => sum + Math.max(0, own(of) - count(true, of)),
                  0,
                );
                const leave = budget.tryRetry(tenantId);
                if (left <= 0 || made >= Math.max(2, mine)) expect(leave).toBe(false);
                else if (made < mine) expect(leave).toBe(true);
                else expect(leave).toBe(left > keptForOthers);
                if (!leave) continue;
              }
              events.push({ step: step(), tenantId, retry: next.kind === 'retries' });
            }
          const seen = new Set(events.filter((event) => event.step > step() - 10).map((event) => event.tenantId));
          expect(budget.report()).toMatchObject({ requests: count(false), retries: count(true), tenants: seen.size });
        }
      }),
      { numRuns: 200 },
    );
  });

  it('of requests made before, in any order of retries, no tenant is refused one that is within its own tenth', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 200 }), { minLength: TENANTS.length, maxLength: TENANTS.length }),
        fc.array(tenant, { maxLength: 150 }),
        (made, tries) => {
          const budget = createRetryBudget({ clock: createFakeClock() });
          TENANTS.forEach((tenantId, i) => requests(budget, tenantId, made[i] as number));
          const left = new Map(TENANTS.map((tenantId, i) => [tenantId, Math.floor((made[i] as number) / 10)]));
          for (const tenantId of tries) {
            const leave = budget.tryRetry(tenantId);
            if ((left.get(tenantId) as number) > 0) expect(leave).toBe(true);
            left.set(tenantId, (left.get(tenantId) as number) - 1);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
