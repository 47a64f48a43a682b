import { useState, type FormEvent } from 'react';
import type { OperatorApi } from '../api/operator-api.ts';

/** Operator sign-in. */
export function SignIn({ api, onSignedIn }: { api: OperatorApi; onSignedIn: () => void }) {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(undefined);
    try {
      await api.signIn(String(form.get('user')), String(form.get('password')));
      onSignedIn();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The sign-in did not work.');
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <form className="panel" onSubmit={(event) => void submit(event)}>
        <h1>Sluice operator console</h1>
        <p className="muted">
          For the engineer on call. <code>make up</code> prints the user and password of the demo.
        </p>
        <label>
          User
          <input name="user" autoComplete="username" required autoFocus />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        {problem !== undefined && (
          <p className="notice bad" role="alert">
            {problem}
          </p>
        )}
        <button className="primary" type="submit" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
