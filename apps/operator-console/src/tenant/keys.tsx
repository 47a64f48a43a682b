import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { CreateKeyResponse } from '@sluice/contracts';
import { ScrollX } from '@sluice/ui';
import type { KeyView, OperatorApi } from '../api/operator-api.ts';
import { Problem } from '../edit/problem.tsx';
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
    <section className="panel" aria-labelledby="keys">
      <h2 id="keys">Keys of {slug}</h2>
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
      <Problem error={problem} />
      {keys.data?.length === 0 && <p className="empty">No key yet: nothing can call in the name of this workspace.</p>}
      {keys.data !== undefined && keys.data.length > 0 && (
        <ScrollX label={`Keys of ${slug}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">name</th>
                <th scope="col">id</th>
                <th scope="col">expires</th>
                <th scope="col">
                  <span className="visually-hidden">what can be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.data.map((key) => (
                <Row key={key.keyId} view={key} refusal={refusal} onRotate={() => rotate.mutate(key.keyId)} onRevoke={() => revoke.mutate(key.keyId)} />
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
      <form className="inline" onSubmit={submit}>
        <input name="name" required maxLength={100} placeholder="Name of a new key" aria-label="Name of a new key" disabled={refusal !== undefined} />
        <button type="submit" disabled={create.isPending || refusal !== undefined} title={refusal}>
          Make a key
        </button>
      </form>
    </section>
  );
}

function Row({ view, refusal, onRotate, onRevoke }: { view: KeyView; refusal: string | undefined; onRotate: () => void; onRevoke: () => void }) {
  return (
    <tr>
      <th scope="row" className="row-name">
        {view.name}
      </th>
      <td>
        <code>{view.keyId}</code>
      </td>
      <td className="num-left">{view.expiresAt === undefined ? <span className="muted">never</span> : new Date(view.expiresAt).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}</td>
      <td className="actions">
        <span className="inline">
          <button type="button" disabled={refusal !== undefined} title={refusal ?? 'Makes a key like it; this one goes on for a day'} aria-label={`Rotate ${view.name}`} onClick={onRotate}>
            Rotate
          </button>
          <SureButton verb="Revoke" name={view.name} refusal={refusal} onSure={onRevoke} />
        </span>
      </td>
    </tr>
  );
}
