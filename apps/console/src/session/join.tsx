import { useState, type FormEvent } from 'react';
import { useMutation } from '@tanstack/react-query';
import { consoleApi } from '../api/console-api.ts';
import { Field, FormFault } from '../parts/field.tsx';

/** Accepts an invitation, which stands behind the # of the address. */
export function Join() {
  const [invitation] = useState(() => window.location.hash.slice(1));
  const [password, setPassword] = useState('');
  const accept = useMutation({ mutationFn: () => consoleApi.acceptInvitation({ invitation, password }) });
  function submit(event: FormEvent): void {
    event.preventDefault();
    accept.mutate();
  }
  return (
    <main className="sign-in">
      <form className="panel" onSubmit={submit}>
        <h1>Join a workspace</h1>
        {invitation === '' && (
          <p className="notice bad" role="alert">
            This link has no invitation in it. Copy the whole link from the message you got.
          </p>
        )}
        {accept.isSuccess ? (
          <p className="notice good" role="status">
            Done. <a href="/">Sign in</a> with your address and this password.
          </p>
        ) : (
          <>
            <Field
              label="Password"
              hint="At least 12 characters. If you have an account here already, give its password."
              error={accept.error}
              path="password"
            >
              {(props) => (
                <input
                  {...props}
                  type="password"
                  autoComplete="new-password"
                  required
                  minLength={12}
                  maxLength={200}
                  value={password}
                  onChange={(e) => setPassword(e.target.value)}
                />
              )}
            </Field>
            <FormFault error={accept.error} paths={['password']} />
            <button className="primary" disabled={accept.isPending || invitation === ''}>
              {accept.isPending ? 'Joining …' : 'Join'}
            </button>
          </>
        )}
      </form>
    </main>
  );
}
