import { useState, type FormEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { SessionView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';

export function SignIn({ onSignedIn }: { onSignedIn: (session: SessionView) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({ mutationFn: () => consoleApi.signIn(email, password), onSuccess: onSignedIn });

  function submit(event: FormEvent): void {
    event.preventDefault();
    signIn.mutate();
  }

  return (
    <main className="sign-in">
      <form className="panel" onSubmit={submit}>
        <h1>Sluice console</h1>
        <label>
          E-mail address
          <input type="email" autoComplete="username" required value={email} onChange={(e) => setEmail(e.target.value)} />
        </label>
        <label>
          Password
          <input type="password" autoComplete="current-password" required value={password} onChange={(e) => setPassword(e.target.value)} />
        </label>
        {signIn.isError && <p className="notice bad" role="alert">{signIn.error.message}</p>}
        <button className="primary" disabled={signIn.isPending}>Sign in</button>
        <p className="muted">Demo people stand in <code>.sluice/stack.json</code>.</p>
      </form>
    </main>
  );
}
