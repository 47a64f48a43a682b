import { createFakeClock } from '@sluice/testing';
import { createRetrySlots } from './retry-slots.ts';

const call = { limit: 'workspace/w/requests', waitMs: 500, spacingMs: 500 };

it('gives callers that are refused in a row one moment each, the first the exact wait', () => {
  const slots = createRetrySlots({ clock: createFakeClock() });
  expect(Array.from({ length: 5 }, () => slots.waitFor(call))).toEqual([500, 1_000, 1_500, 2_000, 2_500]);
});

it('never gives less than the exact wait, and forgets moments that have passed', () => {
  const clock = createFakeClock();
  const slots = createRetrySlots({ clock });
  for (let refused = 0; refused < 4; refused += 1) slots.waitFor(call);
  expect(slots.waitFor({ ...call, waitMs: 9_000 })).toBe(9_000);
  clock.advance(60_000);
  expect(slots.waitFor(call)).toBe(500);
});

it('begins again at the exact wait rather than send anybody away for a minute', () => {
  const slots = createRetrySlots({ clock: createFakeClock() });
  const waits = Array.from({ length: 1_000 }, () => slots.waitFor(call));
  expect(Math.max(...waits)).toBeLessThanOrEqual(55_000);
  expect(Math.min(...waits)).toBe(500);
  expect(slots.waitFor({ limit: 'other', waitMs: 120_000, spacingMs: 500 })).toBe(120_000);
});

it('spreads each limit by itself, and remembers a bounded number of them', () => {
  const slots = createRetrySlots({ clock: createFakeClock(), maxLimits: 2 });
  expect([slots.waitFor(call), slots.waitFor({ ...call, limit: 'b' })]).toEqual([500, 500]);
  slots.waitFor({ ...call, limit: 'c' });
  expect(slots.waitFor(call)).toBe(500);
});

it('leaves a wait alone that never ends', () => {
  const slots = createRetrySlots({ clock: createFakeClock() });
  expect(slots.waitFor({ ...call, waitMs: Number.POSITIVE_INFINITY })).toBe(Number.POSITIVE_INFINITY);
});
