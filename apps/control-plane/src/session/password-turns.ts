import { ProblemError } from '@sluice/service-kit';

/** How much speaks for a caller: `proven` by a device or a session of the account, `known` by its address, or nothing. */
export type Standing = 'proven' | 'known' | 'stranger';

/**
 * Places of the pool that each standing may fill, together with those below it. A check takes a core and a thread of
 * libuv, of which there are four: strangers have one, and one stays free for files and names.
 */
const PLACES: Record<Standing, number> = { stranger: 1, known: 2, proven: 3 };
const RANK: Record<Standing, number> = { proven: 0, known: 1, stranger: 2 };
/** Callers that wait or are being answered: of all, and of one account from one address. */
const MAX_CALLERS = 1024;
const MAX_OF_PAIR = 5;
/** Room beyond `MAX_CALLERS` for addresses with few callers. */
const HARD_MAX_CALLERS = 2 * MAX_CALLERS;
/** Who has waited so long is refused, milliseconds. */
const MAX_WAIT_MS = 3_000;

/** Typing errors that weigh nothing: of everybody behind an address, and at one account. */
const FREE_OF_ADDRESS = 5;
const FREE_OF_ACCOUNT = 2;

export interface Timers {
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
}

export interface Caller {
  readonly standing: Standing;
  /** Network of the caller. */
  readonly address: string;
  readonly account: string;
  /** One at a time of each lane: the account for everybody without a proof, the device for one with. */
  readonly lane: string;
  /** Recent failures of the address and of the account: who has fewer goes first. */
  readonly failures: readonly [number, number];
}

/** A place in the pool. `checked` frees the place, `answered` the caller's lane; each at the end of its part, once. */
export interface Turn {
  checked(): void;
  answered(): void;
}

interface Waiting extends Caller {
  readonly go: () => void;
}

/**
 * Who checks a password next. Callers with a proof have places of their own; among equals the address with fewer
 * recent failures goes first, then the account with fewer, then who came first. A lane has one caller at a time until
 * that one is answered, so that many guesses at once are no more than one after the other.
 */
export function createPasswordTurns(timers: Timers): { take(caller: Caller): Promise<Turn> } {
  const running: Record<Standing, number> = { proven: 0, known: 0, stranger: 0 };
  const waiting = new Set<Waiting>();
  const lanes = new Set<string>();
  const callers = { total: 0, byAddress: new Map<string, number>(), byPair: new Map<string, number>() };
  const pairOf = ({ address, account, standing }: Caller): string => `${standing} ${address} ${account}`;

  function mayRun({ standing, lane }: Caller): boolean {
    if (lanes.has(lane)) return false;
    const below = (Object.keys(running) as Standing[]).filter((other) => RANK[other] >= RANK[standing]);
    const total = running.proven + running.known + running.stranger;
    return total < PLACES.proven && below.reduce((sum, other) => sum + running[other], 0) < PLACES[standing];
  }

  function next(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const one of waiting) if (mayRun(one) && (first === undefined || before(one, first))) first = one;
    return first;
  }

  function serve(): void {
    for (let one = next(); one !== undefined; one = next()) {
      waiting.delete(one);
      running[one.standing] += 1;
      lanes.add(one.lane);
      one.go();
    }
  }

  /** @throws ProblemError 429 for a caller whose address or pair has its share already. */
  function admit(caller: Caller): void {
    const ofAddress = callers.byAddress.get(caller.address) ?? 0;
    const ofPair = callers.byPair.get(pairOf(caller)) ?? 0;
    const share = Math.max(2, Math.floor(MAX_CALLERS / Math.max(1, callers.byAddress.size)));
    const full = caller.standing !== 'proven' && (ofAddress >= share || callers.total >= HARD_MAX_CALLERS);
    if (full || ofPair >= MAX_OF_PAIR) throw tooMany();
    count(callers.byAddress, caller.address, 1);
    count(callers.byPair, pairOf(caller), 1);
    callers.total += 1;
  }

  function gone(caller: Caller): void {
    count(callers.byAddress, caller.address, -1);
    count(callers.byPair, pairOf(caller), -1);
    callers.total -= 1;
  }

  return {
    async take(caller) {
      admit(caller);
      await new Promise<void>((resolve, reject) => {
        const timer = timers.setTimeout(() => {
          waiting.delete(one);
          gone(caller);
          reject(tooMany());
        }, MAX_WAIT_MS);
        const one: Waiting = {
          ...caller,
          go: () => {
            timers.clearTimeout(timer);
            resolve();
          },
        };
        waiting.add(one);
        serve();
      });
      return {
        checked: () => {
          running[caller.standing] -= 1;
          serve();
        },
        answered: () => {
          lanes.delete(caller.lane);
          gone(caller);
          serve();
        },
      };
    },
  };
}

/** Counts are of the moment when a caller came, so those of one party are not compared with each other. */
function before(a: Caller, b: Caller): boolean {
  const differences = [
    RANK[a.standing] - RANK[b.standing],
    a.address === b.address ? 0 : weight(a.failures[0], FREE_OF_ADDRESS) - weight(b.failures[0], FREE_OF_ADDRESS),
    a.account === b.account ? 0 : weight(a.failures[1], FREE_OF_ACCOUNT) - weight(b.failures[1], FREE_OF_ACCOUNT),
  ];
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}

const weight = (failures: number, free: number): number => Math.floor(failures / free);

function count(counts: Map<string, number>, of: string, by: 1 | -1): void {
  const now = (counts.get(of) ?? 0) + by;
  if (now === 0) counts.delete(of);
  else counts.set(of, now);
}

const tooMany = (): ProblemError =>
  new ProblemError(429, 'Too many sign-ins at once', {
    detail: 'Try again in 2 s. A browser that has signed in to the account before does not wait behind others.',
    headers: { 'retry-after': '2' },
  });
