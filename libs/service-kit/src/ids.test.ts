import { RequestId } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { createIds } from './ids.ts';

describe('createIds', () => {
  it('makes request ids of the contract', () => {
    const ids = createIds({ clock: createFakeClock(1_700_000_000_000) });
    expect(RequestId.safeParse(ids.requestId()).success).toBe(true);
  });

  it('encodes the time of the ULID specification', () => {
    const ids = createIds({ clock: createFakeClock(1_469_918_176_385), randomBytes: (n) => new Uint8Array(n) });
    expect(ids.ulid()).toBe('01ARYZ6S410000000000000000');
  });

  it('grows strictly within a millisecond, over time, and when the clock steps back', () => {
    let now = 5_000;
    const ids = createIds({ clock: { now: () => now } });
    const made = [ids.ulid(), ids.ulid(), ids.ulid()];
    now = 5_001.7;
    made.push(ids.ulid());
    now = 1_000;
    made.push(ids.ulid(), ids.ulid());
    expect(made).toEqual([...made].sort());
    expect(new Set(made).size).toBe(made.length);
  });

  it('carries from one digit to the next', () => {
    const ids = createIds({ clock: createFakeClock(0), randomBytes: (n) => new Uint8Array(n).fill(31, 1) });
    ids.ulid();
    expect(ids.ulid()).toBe('0000000000' + '1' + '0'.repeat(15));
  });

  it('refuses rather than repeats when a millisecond is used up', () => {
    const ids = createIds({ clock: createFakeClock(0), randomBytes: (n) => new Uint8Array(n).fill(31) });
    ids.ulid();
    expect(() => ids.ulid()).toThrow(RangeError);
  });
});
