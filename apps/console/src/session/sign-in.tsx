import { useState, type FormEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { SessionView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { ApiError } from '../api/http.ts';
import type { SessionEnd } from '../api/query-client.ts';
import { useCountdown, waitInWords } from '../parts/countdown.ts';

/** `ended` says why a session of this page is over, when it was without a sign-out. */
export function SignIn({
  ended,
  onSignedIn,
}: {
  ended: SessionEnd | undefined;
  onSignedIn: (session: SessionView) => void;
}) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({ mutationFn: () => consoleApi.signIn(email, password), onSuccess: onSignedIn });
  const waitS = useCountdown(
    signIn.error instanceof ApiError ? signIn.error.retryAfterS : undefined,
    signIn.submittedAt,
  );

  function submit(event: FormEvent): void {
    event.preventDefault();
    signIn.mutate();
  }

  return (
    <main className="sign-in">
      <form className="panel" onSubmit={submit}>
        <h1>Sign in to Sluice</h1>
        {ended === 'over' && !signIn.isError && (
          <p className="notice">Your session has ended. Sign in again to go on where you were.</p>
        )}
        {ended === 'new-password' && !signIn.isError && (
          <p className="notice good" role="status">
            Your password is changed, and you are signed out everywhere. Sign in with the new one.
          </p>
        )}
        <label>
          E-mail address
          <input
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(e) => setEmail(e.target.value)}
          />
        </label>
        <label>
          Password
          <input
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(e) => setPassword(e.target.value)}
          />
        </label>
        {signIn.isError && (
          <p className="notice bad" role="alert">
            {signIn.error.message}
            {waitS > 0 && <span aria-hidden="true"> Try again in {waitInWords(waitS)}.</span>}
          </p>
        )}
        <button className="primary" disabled={signIn.isPending || waitS > 0}>
          {signIn.isPending ? 'Signing in …' : 'Sign in'}
        </button>
        <p className="muted">
          In the demo, people and passwords stand in <code>.sluice/stack.json</code>.
        </p>
      </form>
    </main>
  );
}
