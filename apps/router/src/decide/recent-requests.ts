import type { AnswerFacts } from './route-answer.ts';

export interface RecentRequest {
  readonly digest: string;
  readonly facts: AnswerFacts;
  readonly atMs: number;
}

/** The answers to idempotent requests, for as long as they are promised; the oldest go first. */
export interface RecentRequests {
  find(workspace: string, requestId: string, nowMs: number): RecentRequest | undefined;
  add(workspace: string, requestId: string, request: RecentRequest): void;
}

export function createRecentRequests({ ttlMs, max = 50_000 }: { ttlMs: number; max?: number }): RecentRequests {
  const requests = new Map<string, RecentRequest>();
  // A slug has no slash.
  const keyOf = (workspace: string, requestId: string): string => `${workspace}/${requestId}`;
  return {
    find: (workspace, requestId, nowMs) => {
      const found = requests.get(keyOf(workspace, requestId));
      return found === undefined || nowMs - found.atMs > ttlMs ? undefined : found;
    },
    add: (workspace, requestId, request) => {
      requests.set(keyOf(workspace, requestId), request);
      if (requests.size > max) requests.delete(requests.keys().next().value as string);
    },
  };
}
