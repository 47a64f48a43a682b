import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError } from './api/call.ts';
import { type OperatorApi } from './api/operator-api.ts';
import { SessionContext } from './session/role.tsx';
import { SignIn } from './session/sign-in.tsx';
import { Shell } from './shell.tsx';

/** The whole console: the sign-in page, or the pages behind it. */
export function App({ api }: { api: OperatorApi }) {
  const queries = useQueryClient();
  const session = useQuery({ queryKey: ['session'], queryFn: api.session });
  const signedOut = session.error instanceof ApiError && session.error.status === 401;
  if (session.isPending) return <p className="page muted">One moment…</p>;
  if (signedOut) return <SignIn api={api} onSignedIn={() => void queries.resetQueries()} />;
  if (session.error !== null) {
    return (
      <main className="page">
        <div className="notice bad" role="alert">
          The control plane does not answer: {session.error.message} Inference goes on without it.{' '}
          <button type="button" onClick={() => void session.refetch()}>
            Try again
          </button>
        </div>
      </main>
    );
  }
  return (
    <SessionContext value={session.data}>
      <Shell api={api} onSignedOut={() => void queries.resetQueries()} />
    </SessionContext>
  );
}
