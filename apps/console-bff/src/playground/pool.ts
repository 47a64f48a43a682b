import { Agent } from 'node:http';
import { ProblemError } from '@sluice/service-kit';

/** Calls of the playground at once: of everybody, and of one person. */
export const MAX_CALLS = 32;
export const MAX_CALLS_OF_ONE = 4;

/** Room for the playground's calls, apart from everything else of the process: pages never wait behind inference. */
export interface PlaygroundPool {
  /** Connections to the gateway, of the playground's own. */
  readonly agent: Agent;
  /** A place for a call of this person; give it back exactly once. @throws ProblemError 503 when there is none. */
  enter(userId: string): () => void;
  close(): void;
}

export function createPlaygroundPool({ maxCalls = MAX_CALLS, maxOfOne = MAX_CALLS_OF_ONE }: { maxCalls?: number; maxOfOne?: number } = {}): PlaygroundPool {
  const agent = new Agent({ keepAlive: true, maxSockets: maxCalls, maxFreeSockets: 8 });
  const running = new Map<string, number>();
  let total = 0;
  return {
    agent,
    enter(userId) {
      const own = running.get(userId) ?? 0;
      if (own >= maxOfOne) throw busy(`You have ${own} calls in progress; stop one, or wait for it.`);
      if (total >= maxCalls) throw busy('Many people use the playground right now.');
      total += 1;
      running.set(userId, own + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        total -= 1;
        const now = (running.get(userId) ?? 1) - 1;
        if (now === 0) running.delete(userId);
        else running.set(userId, now);
      };
    },
    close: () => agent.destroy(),
  };
}

const busy = (detail: string): ProblemError => new ProblemError(503, 'The playground is busy', { detail, headers: { 'retry-after': '2' } });
