import { useQuery, useQueryClient } from '@tanstack/react-query';
import { consoleApi } from './api/console-api.ts';
import { SignIn } from './session/sign-in.tsx';
import { Workspace } from './workspace/workspace.tsx';

/** Who is signed in decides what is drawn. */
export function App() {
  const queryClient = useQueryClient();
  const session = useQuery({ queryKey: ['session'], queryFn: consoleApi.session });
  if (session.isPending) return <p className="center muted">Loading…</p>;
  if (session.isError) return <p className="center notice bad" role="alert">{session.error.message}</p>;
  if (session.data === null) return <SignIn onSignedIn={(signedIn) => queryClient.setQueryData(['session'], signedIn)} />;
  return (
    <Workspace
      session={session.data}
      onSignOut={async () => {
        await consoleApi.signOut();
        queryClient.clear();
        queryClient.setQueryData(['session'], null);
      }}
    />
  );
}
