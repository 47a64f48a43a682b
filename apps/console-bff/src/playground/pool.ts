import { Agent } from 'node:http';
import { ProblemError } from '@sluice/service-kit';

/** Calls of the playground at once: of everybody, in one workspace, and of one person. */
export const MAX_CALLS = 32;
export const MAX_CALLS_OF_WORKSPACE = 8;
export const MAX_CALLS_OF_ONE = 4;

/** Room for the playground's calls, apart from everything else of the process: pages never wait behind inference. */
export interface PlaygroundPool {
  /** Connections to the gateway, of the playground's own. */
  readonly agent: Agent;
  /**
   * A place for a call of this person in this workspace; give it back exactly once.
   * @throws ProblemError 503 when there is none.
   */
  enter(userId: string, slug: string): () => void;
  close(): void;
}

export interface PoolLimits {
  readonly maxCalls?: number;
  readonly maxOfWorkspace?: number;
  readonly maxOfOne?: number;
}

export function createPlaygroundPool({
  maxCalls = MAX_CALLS,
  maxOfWorkspace = MAX_CALLS_OF_WORKSPACE,
  maxOfOne = MAX_CALLS_OF_ONE,
}: PoolLimits = {}): PlaygroundPool {
  const agent = new Agent({ keepAlive: true, maxSockets: maxCalls, maxFreeSockets: 8 });
  const [people, workspaces] = [new Map<string, number>(), new Map<string, number>()];
  let total = 0;
  return {
    agent,
    enter(userId, slug) {
      const own = people.get(userId) ?? 0;
      if (own >= maxOfOne) throw busy(`You have ${own} calls in progress; stop one, or wait for it.`);
      // A customer makes accounts as it likes: without this one of them could take every place.
      if ((workspaces.get(slug) ?? 0) >= maxOfWorkspace)
        throw busy('Your colleagues use every place of this workspace.');
      if (total >= maxCalls) throw busy('Many people use the playground right now.');
      total += 1;
      count(people, userId, 1);
      count(workspaces, slug, 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        total -= 1;
        count(people, userId, -1);
        count(workspaces, slug, -1);
      };
    },
    close: () => agent.destroy(),
  };
}

function count(calls: Map<string, number>, of: string, by: 1 | -1): void {
  const now = (calls.get(of) ?? 0) + by;
  if (now === 0) calls.delete(of);
  else calls.set(of, now);
}

const busy = (detail: string): ProblemError =>
  new ProblemError(503, 'The playground is busy', { detail, headers: { 'retry-after': '2' } });
