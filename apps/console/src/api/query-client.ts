import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './http.ts';

/** Nothing is asked again on its own after a failure; a 401 anywhere ends the session here as well. */
export function createQueryClient(): QueryClient {
  const onError = (error: Error): void => {
    if (error instanceof ApiError && error.status === 401 && client.getQueryData(['session'])) {
      forgetPerson(client);
    }
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false } },
  });
  return client;
}

/** Why nobody is signed in any more, where it was not the person who signed out. */
export type SessionEnd = 'over' | 'new-password';
const END = ['session', 'end'];

/** Drops everything that the page holds of the person who was signed in. */
export function forgetPerson(client: QueryClient, end: SessionEnd = 'over'): void {
  client.setQueryData(END, end);
  client.setQueryData(['session'], null);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  client.getMutationCache().clear();
}

/** Why the last session of this page ended; `over` when nothing else is known. */
export function sessionEnd(client: QueryClient): SessionEnd {
  return client.getQueryData<SessionEnd>(END) ?? 'over';
}
