import type { Principal } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { createSessions } from './sessions.ts';

const PERSON: Principal = { kind: 'person', userId: 'u1', email: 'a@b.test', roles: {} };

describe('createSessions', () => {
  it('keeps at most its limit and ends the oldest first', () => {
    const sessions = createSessions({ clock: createFakeClock(0), limit: 2 });
    const [first, second, third] = [sessions.open(PERSON), sessions.open(PERSON), sessions.open(PERSON)];
    expect([first, second, third].map((token) => sessions.find(token) !== undefined)).toEqual([false, true, true]);
  });

  it('does not let an expired session take the place of a live one', () => {
    const clock = createFakeClock(0);
    const sessions = createSessions({ clock, limit: 2, ttlMs: 100 });
    sessions.open(PERSON);
    clock.advance(60);
    const live = sessions.open(PERSON);
    clock.advance(60);
    sessions.open(PERSON);
    expect(sessions.find(live)?.principal).toEqual(PERSON);
  });
});
