import type { Clock } from '@sluice/contracts';
import { createPartyPlaces, createPartyRates, ProblemError } from '@sluice/service-kit';

/** What a person may ask per second and at once, and all people of a workspace together. */
export const OF_PERSON = { perSecond: 20, burst: 60 };
export const OF_WORKSPACE = { perSecond: 60, burst: 180 };
/** Calls of one person that run at once, and that wait for one of these. */
const RUNNING_OF_PERSON = 6;
const WAITING_OF_PERSON = 12;
/** Calls that run at once in the whole process: sockets to the control plane. */
const RUNNING = 64;

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Shares of the control plane's time, by person and workspace; the playground has a pool of its own. */
export interface ReadShares {
  /** @throws ProblemError 429 with `Retry-After` for a person who asks too much; takes one call. */
  charge(userId: string): void;
  /**
   * Does the work when it is the person's turn; people take turns.
   * @throws ProblemError 429 with `Retry-After` for a person, or a workspace, that asks too much.
   */
  run<T>(userId: string, slug: string, work: () => Promise<T>): Promise<T>;
}

export function createReadShares({
  clock,
  ofPerson = OF_PERSON,
  ofWorkspace = OF_WORKSPACE,
}: {
  clock: Pick<Clock, 'monotonic'>;
  ofPerson?: Rate;
  ofWorkspace?: Rate;
}): ReadShares {
  const people = createPartyRates({ clock, ...ofPerson });
  const workspaces = createPartyRates({ clock, ...ofWorkspace });
  const places = createPartyPlaces({ places: RUNNING, ofOne: RUNNING_OF_PERSON, waitingOfOne: WAITING_OF_PERSON });

  function charge(userId: string): void {
    const waitMs = people.take(userId);
    if (waitMs > 0) throw tooMuch('You ask more than your share.', waitMs);
  }

  return {
    charge,
    async run(userId, slug, work) {
      charge(userId);
      // A customer makes accounts as it likes: without this one of them could take every place.
      const waitMs = workspaces.take(slug);
      if (waitMs > 0) throw tooMuch('The people of this workspace together ask more than its share.', waitMs);
      const leave = await places.enter(userId);
      if (leave === undefined) throw tooMuch('Too many of your calls wait already.', 1_000);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

function tooMuch(what: string, waitMs: number): ProblemError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ProblemError(429, 'Too many requests', {
    detail: `${what} Try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  });
}
