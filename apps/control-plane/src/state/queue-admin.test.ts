import { declareTopology } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { createQueueAdmin, type ReadQueue } from './queue-admin.ts';

const clock = createFakeClock(Date.UTC(2026, 5, 1));
let depth = 0;
let away = false;
const read = async (): Promise<ReadQueue[]> => {
  if (away) throw new Error('connect ECONNREFUSED');
  return [{ name: 'audit', waiting: 0, in_flight: 0, dlq_depth: depth }];
};
const admin = createQueueAdmin({
  clock,
  topology: () => declareTopology([]),
  read,
  redrive: async () => ({ moved: 0, left: 0, refused: 0, native: false, finished: true }),
  deadLetters: async () => [],
  discard: async () => ({ discarded: 0, left: 0 }),
});
const age = async () => (await admin.readStates())[0]?.oldest_age_s;

describe('the age of a dead letter', () => {
  it('counts from when its queue was first seen filled, and begins anew after it was seen empty', async () => {
    expect(await age()).toBeNull();
    depth = 1;
    expect(await age()).toBe(0);
    clock.advance(90_000);
    depth = 3;
    expect(await age()).toBe(90);
    depth = 0;
    expect(await age()).toBeNull();
    depth = 1;
    clock.advance(5_000);
    expect(await age()).toBe(0);
  });
});

describe('a spine that is away', () => {
  it('is a 503 that says so, not a fault of ours', async () => {
    away = true;
    await expect(admin.readStates()).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('event spine does not answer'),
    });
    away = false;
  });
});

describe('a redrive', () => {
  it('of a queue that does not exist is a 404', async () => {
    await expect(admin.redrive('acme-audit-export')).rejects.toMatchObject({ status: 404 });
  });
});
