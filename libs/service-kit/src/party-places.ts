export interface PartyPlacesOptions {
  /** Places of all together. */
  readonly places: number;
  /** Places of one party at once. */
  readonly ofOne: number;
  /** Callers of one party that may wait for a place. */
  readonly waitingOfOne: number;
}

/** Room for work that parties share. */
export interface PartyPlaces {
  /**
   * A place for the party, as soon as there is one; undefined when as many of its callers wait as may. Give it back by
   * calling what comes, exactly once.
   */
  enter(party: string): Promise<(() => void) | undefined>;
  /** Places that are taken, and callers that wait. */
  readonly load: { readonly taken: number; readonly waiting: number };
}

/** Places go round the parties that wait, one caller of each, so that nobody stands behind another party's queue. */
export function createPartyPlaces({ places, ofOne, waitingOfOne }: PartyPlacesOptions): PartyPlaces {
  const taken = new Map<string, number>();
  /** In the order in which they get a place; a party that got one goes to the end. */
  const waiting = new Map<string, (() => void)[]>();
  let total = 0;

  function leave(party: string): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      total -= 1;
      const own = (taken.get(party) ?? 1) - 1;
      if (own === 0) taken.delete(party);
      else taken.set(party, own);
      serve();
    };
  }

  function serve(): void {
    for (const [party, queue] of [...waiting]) {
      if (total >= places) return;
      if ((taken.get(party) ?? 0) >= ofOne) continue;
      const go = queue.shift() as () => void;
      waiting.delete(party);
      if (queue.length > 0) waiting.set(party, queue);
      total += 1;
      taken.set(party, (taken.get(party) ?? 0) + 1);
      go();
    }
  }

  return {
    get load() {
      return { taken: total, waiting: [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0) };
    },
    async enter(party) {
      const queue = waiting.get(party) ?? [];
      if (queue.length >= waitingOfOne) return undefined;
      await new Promise<void>((resolve) => {
        queue.push(resolve);
        waiting.set(party, queue);
        serve();
      });
      return leave(party);
    },
  };
}
