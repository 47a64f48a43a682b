import { useState, type FormEvent } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { consoleApi } from '../api/console-api.ts';
import { ApiError } from '../api/http.ts';
import { forgetPerson } from '../api/query-client.ts';
import { useCountdown, waitInWords } from '../parts/countdown.ts';
import { Field, FormFault } from '../parts/field.tsx';
import { Panel } from '../parts/page.tsx';

const SHORTEST = 12;

/** Changes the own password. It ends every session, this one too, so the person signs in again afterwards. */
export function PasswordForm() {
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState({ old: '', next: '', again: '' });
  const [left, setLeft] = useState(false);
  const change = useMutation({
    mutationFn: () => consoleApi.changePassword({ old_password: typed.old, new_password: typed.next }),
    onSuccess: () => forgetPerson(queryClient, 'new-password'),
  });
  const waitS = useCountdown(
    change.error instanceof ApiError ? change.error.retryAfterS : undefined,
    change.submittedAt,
  );
  const differs = typed.again !== typed.next;
  function submit(event: FormEvent): void {
    event.preventDefault();
    setLeft(true);
    if (!differs) change.mutate();
  }
  return (
    <Panel title="Password" note="Changing it signs you out everywhere, here too. You sign in again with the new one.">
      <form className="stack" onSubmit={submit}>
        <div className="fields">
          <Field label="Password now" error={change.error} path="old_password">
            {(props) => (
              <input
                {...props}
                type="password"
                autoComplete="current-password"
                required
                maxLength={500}
                value={typed.old}
                onChange={(e) => setTyped({ ...typed, old: e.target.value })}
              />
            )}
          </Field>
          <Field
            label="New password"
            hint={`At least ${SHORTEST} characters.`}
            error={change.error}
            path="new_password"
          >
            {(props) => (
              <input
                {...props}
                type="password"
                autoComplete="new-password"
                required
                minLength={SHORTEST}
                maxLength={500}
                value={typed.next}
                onChange={(e) => setTyped({ ...typed, next: e.target.value })}
              />
            )}
          </Field>
          <Field label="New password again" fault={left && differs ? 'is not the same as the new password' : undefined}>
            {(props) => (
              <input
                {...props}
                type="password"
                autoComplete="new-password"
                required
                maxLength={500}
                value={typed.again}
                onChange={(e) => setTyped({ ...typed, again: e.target.value })}
                onBlur={() => setLeft(typed.again !== '')}
              />
            )}
          </Field>
        </div>
        <FormFault error={change.error} paths={['old_password', 'new_password']} />
        <div className="actions">
          <button className="primary" disabled={change.isPending || waitS > 0}>
            {change.isPending ? 'Changing …' : 'Change password'}
          </button>
          {waitS > 0 && <span className="muted">Try again in {waitInWords(waitS)}.</span>}
        </div>
      </form>
    </Panel>
  );
}
