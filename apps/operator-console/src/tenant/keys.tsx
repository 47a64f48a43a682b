import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { CreateKeyResponse } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRefusal } from '../session/role.tsx';

const GRACE_S = 86_400;

/** API keys of a workspace: made, rotated with a day's grace, revoked everywhere at once. */
export function Keys({ api, slug }: { api: OperatorApi; slug: string }) {
  const keys = useQuery({ queryKey: ['keys', slug], queryFn: () => api.keys(slug) });
  const [made, setMade] = useState<CreateKeyResponse>();
  const refusal = useRefusal('operator');
  const changed = (key?: CreateKeyResponse): void => {
    setMade(key);
    void keys.refetch();
  };
  const create = useMutation({ mutationFn: (name: string) => api.createKey(slug, name), onSuccess: changed });
  const rotate = useMutation({ mutationFn: (keyId: string) => api.rotateKey(keyId, GRACE_S), onSuccess: changed });
  const revoke = useMutation({ mutationFn: api.revokeKey, onSuccess: () => changed() });
  const problem = keys.error ?? create.error ?? rotate.error ?? revoke.error;

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate(String(new FormData(form).get('name')), { onSuccess: () => form.reset() });
  }

  return (
    <ListPanel
      id="keys"
      title={`Keys of ${slug}`}
      problem={problem}
      rows={keys.data}
      keyOf={({ keyId }) => keyId}
      empty="No key yet: nothing can call in the name of this workspace."
      columns={[
        { head: 'name', cell: ({ name }) => name },
        { head: 'id', cell: ({ keyId }) => <code>{keyId}</code> },
        {
          head: 'expires',
          figures: 'left',
          cell: ({ expiresAt }) =>
            expiresAt === undefined ? (
              <span className="muted">never</span>
            ) : (
              new Date(expiresAt).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
            ),
        },
      ]}
      actions={({ keyId, name }) => (
        <>
          <button
            type="button"
            disabled={refusal !== undefined}
            title={refusal ?? 'Makes a key like it; this one goes on for a day'}
            aria-label={`Rotate ${name}`}
            onClick={() => rotate.mutate(keyId)}
          >
            Rotate
          </button>
          <SureButton verb="Revoke" name={name} refusal={refusal} onSure={() => revoke.mutate(keyId)} />
        </>
      )}
      foot={
        <form className="inline" onSubmit={submit}>
          <input
            name="name"
            required
            maxLength={100}
            placeholder="Name of a new key"
            aria-label="Name of a new key"
            disabled={refusal !== undefined}
          />
          <button type="submit" disabled={create.isPending || refusal !== undefined} title={refusal}>
            Make a key
          </button>
        </form>
      }
    >
      {made !== undefined && (
        <div className="notice good" role="status">
          <p>
            <strong>{made.name}</strong> is shown this once:
          </p>
          <p>
            <code>{made.key}</code>
          </p>
          <button type="button" onClick={() => setMade(undefined)}>
            I have it
          </button>
        </div>
      )}
    </ListPanel>
  );
}
