import { lazy, Suspense, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { consoleApi } from './api/console-api.ts';
import { forgetPerson, sessionEnd } from './api/query-client.ts';
import { Failure, Loading } from './parts/load-state.tsx';
import { SignIn } from './session/sign-in.tsx';
import { Shell } from './shell/shell.tsx';

const Join = lazy(async () => ({ default: (await import('./session/join.tsx')).Join }));

/** An invitation needs no session; for everything else, who is signed in decides what is drawn. */
export function App() {
  return window.location.pathname === '/join' ? (
    <Suspense fallback={<Loading />}>
      <Join />
    </Suspense>
  ) : (
    <SignedIn />
  );
}

function SignedIn() {
  const queryClient = useQueryClient();
  const [signedOut, setSignedOut] = useState(false);
  const [wasSignedIn, setWasSignedIn] = useState(false);
  const session = useQuery({
    queryKey: ['session'],
    queryFn: consoleApi.session,
    staleTime: Infinity,
    refetchInterval: ({ state }) => (state.error === null ? false : 5_000),
  });
  // Kept while nobody is signed in, to say that a session was over.
  if (session.data && !wasSignedIn) setWasSignedIn(true);
  if (session.isPending)
    return (
      <main className="center">
        <Loading rows={3} />
      </main>
    );
  if (session.data === undefined)
    return (
      <main className="center">
        <Failure error={session.error ?? new Error('Nobody knows why.')} onRetry={() => void session.refetch()} />
      </main>
    );
  if (session.data === null) {
    return (
      <SignIn
        ended={wasSignedIn && !signedOut ? sessionEnd(queryClient) : undefined}
        onSignedIn={(signedIn) => {
          setSignedOut(false);
          queryClient.setQueryData(['session'], signedIn);
        }}
      />
    );
  }
  return (
    <Shell
      session={session.data}
      onSignOut={async () => {
        // What the page still holds of this person goes, even when the backend does not answer.
        await consoleApi.signOut().catch(() => undefined);
        setSignedOut(true);
        forgetPerson(queryClient);
      }}
    />
  );
}
