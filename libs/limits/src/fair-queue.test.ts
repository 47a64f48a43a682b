import { PRIORITIES, PRIORITY_WEIGHT, type Priority } from '@sluice/contracts';
import fc from 'fast-check';
import { createFairQueue, type QueueEntry } from './fair-queue.ts';

function entry(
  tenantId: string,
  workspaceId = tenantId,
  priority: Priority = 'standard',
  costTokens = 100,
): QueueEntry<number> {
  return { tenantId, workspaceId, priority, costTokens, value: 0 };
}

function drain(queue: ReturnType<typeof createFairQueue<number>>, count: number): QueueEntry<number>[] {
  return Array.from({ length: count }, () => queue.pop()).filter((popped) => popped !== undefined);
}

const countBy = (entries: QueueEntry<number>[], key: 'tenantId' | 'workspaceId' | 'priority', value: string): number =>
  entries.filter((popped) => popped[key] === value).length;

describe('createFairQueue', () => {
  it('gives a newcomer its turn before a flood that came first', () => {
    const queue = createFairQueue<number>();
    for (let i = 0; i < 1000; i++) queue.push(entry('flood'));
    drain(queue, 10);
    queue.push(entry('late'));
    expect(countBy(drain(queue, 2), 'tenantId', 'late')).toBe(1);
  });

  it('shares between tenants first, so that many workspaces do not buy a larger share', () => {
    const queue = createFairQueue<number>();
    for (let i = 0; i < 100; i++) {
      queue.push(entry('one', 'one'));
      queue.push(entry('many', `many-${i % 10}`));
    }
    expect(countBy(drain(queue, 40), 'tenantId', 'one')).toBe(20);
  });

  it('counts tokens, not requests', () => {
    const queue = createFairQueue<number>();
    for (let i = 0; i < 400; i++) queue.push(entry(i % 2 ? 'small' : 'large', 'w', 'standard', i % 2 ? 100 : 900));
    const served = drain(queue, 100);
    expect(countBy(served, 'tenantId', 'small')).toBe(90);
  });

  it('weighs priorities 8 to 4 to 2 to 1', () => {
    const queue = createFairQueue<number>();
    for (let i = 0; i < 200; i++) for (const priority of PRIORITIES) queue.push(entry(priority, priority, priority));
    const served = drain(queue, 150);
    expect(PRIORITIES.map((priority) => countBy(served, 'priority', priority))).toEqual([80, 40, 20, 10]);
  });

  it('bounds what the others get between two turns of a waiting tenant, whatever they send', () => {
    const arrival = fc.record({
      tenant: fc.constantFrom('a', 'b', 'c'),
      workspace: fc.nat({ max: 2 }),
      priority: fc.constantFrom(...PRIORITIES),
      cost: fc.integer({ min: 1, max: 5000 }),
    });
    fc.assert(
      fc.property(
        fc.array(arrival, { minLength: 20, maxLength: 120 }),
        fc.integer({ min: 1, max: 5000 }),
        (arrivals, cost) => {
          const queue = createFairQueue<number>();
          for (let i = 0; i < 50; i++) queue.push(entry('victim', 'victim', 'low', cost));
          const largest = new Map<string, number>();
          const since = new Map<string, number>();
          for (const { tenant, workspace, priority, cost: theirs } of arrivals) {
            queue.push(entry(tenant, `${tenant}-${workspace}`, priority, theirs));
            largest.set(tenant, Math.max(largest.get(tenant) ?? 0, theirs / PRIORITY_WEIGHT[priority]));
          }
          let victims = 0;
          for (let served = queue.pop(); served !== undefined; served = queue.pop()) {
            if (served.tenantId === 'victim') {
              since.clear();
              if (++victims === 50) break;
              continue;
            }
            const work = (since.get(served.tenantId) ?? 0) + served.costTokens / PRIORITY_WEIGHT[served.priority];
            since.set(served.tenantId, work);
            expect(work).toBeLessThanOrEqual(cost + (largest.get(served.tenantId) ?? 0) + 1e-6);
          }
          expect(victims).toBe(50);
        },
      ),
    );
  });

  it('gives a tenant that comes back from idling its share and nothing for the time away', () => {
    const queue = createFairQueue<number>();
    for (let i = 0; i < 200; i++) queue.push(entry('busy'));
    drain(queue, 100);
    for (let i = 0; i < 50; i++) queue.push(entry('back'));
    expect(countBy(drain(queue, 20), 'tenantId', 'back')).toBe(10);
  });

  it('saves no credit for a tenant that could not be served', () => {
    const queue = createFairQueue<number>();
    for (let i = 0; i < 100; i++) {
      queue.push(entry('blocked'));
      queue.push(entry('free'));
    }
    for (let i = 0; i < 50; i++) queue.pop(({ tenantId }) => tenantId === 'free');
    expect(countBy(drain(queue, 20), 'tenantId', 'blocked')).toBeLessThanOrEqual(11);
  });

  it('takes entries out anywhere and keeps the order of the rest', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (keep) => {
        const queue = createFairQueue<number>();
        const entries = keep.map((_, i) => queue.push({ ...entry('t'), value: i }));
        entries.forEach((one, i) => keep[i] || expect(queue.remove(one)).toBe(true));
        const kept = entries.filter((_, i) => keep[i]);
        expect(queue.size).toBe(kept.length);
        expect(drain(queue, keep.length)).toEqual(kept);
        expect(entries.some((one) => queue.remove(one))).toBe(false);
      }),
    );
  });
});
