import { useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Badge } from '@sluice/ui';
import type { KeysView, NewKeyView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { NewKeyForm } from './new-key-form.tsx';

/** The API keys of a workspace: make one, see it once, revoke one. */
export function Keys({ slug }: { slug: string }) {
  const queryClient = useQueryClient();
  const [made, setMade] = useState<NewKeyView>();
  const keys = useQuery({ queryKey: ['keys', slug], queryFn: () => consoleApi.keys(slug) });
  const reload = () => queryClient.invalidateQueries({ queryKey: ['keys', slug] });
  return (
    <>
      {made !== undefined && <NewKey made={made} onDone={() => setMade(undefined)} />}
      <section className="panel">
        <h2>New API key</h2>
        <NewKeyForm
          slug={slug}
          onMade={(view) => {
            setMade(view);
            void reload();
          }}
        />
      </section>
      <section className="panel scroll-x">
        <h2>API keys</h2>
        {keys.isPending && <p className="muted">Loading…</p>}
        {keys.isError && <p className="notice bad" role="alert">{keys.error.message}</p>}
        {keys.isSuccess && keys.data.rows.length === 0 && <p>No keys yet. A key lets a program call the gateway in the name of this workspace.</p>}
        {keys.isSuccess && keys.data.rows.length > 0 && <KeyTable slug={slug} rows={keys.data.rows} onRevoked={reload} />}
      </section>
    </>
  );
}

function NewKey({ made, onDone }: { made: NewKeyView; onDone: () => void }) {
  const [copied, setCopied] = useState(false);
  return (
    <section className="notice warn" role="status">
      <h2>Key ‘{made.name}’ is ready</h2>
      <p>Copy it now: it is shown this once, and nobody can look it up again.</p>
      <p className="secret">
        <code>{made.key}</code>
        <button onClick={() => void navigator.clipboard.writeText(made.key).then(() => setCopied(true))}>{copied ? 'Copied' : 'Copy'}</button>
      </p>
      <button className="primary" onClick={onDone}>I have stored it</button>
    </section>
  );
}

function KeyTable({ slug, rows, onRevoked }: { slug: string; rows: KeysView['rows']; onRevoked: () => void }) {
  return (
    <table>
      <thead>
        <tr><th>Name</th><th>Key id</th><th>Made (UTC)</th><th>Expires (UTC)</th><th>May use</th><th><span className="visually-hidden">Actions</span></th></tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key_id}>
            <td>{row.name}</td>
            <td><code>{row.key_id}</code></td>
            <td>{minute(row.created_at)}</td>
            <td>{row.expires_at === null ? 'never' : minute(row.expires_at)} {row.expired && <Badge tone="bad">expired</Badge>}</td>
            <td>
              {row.allow_models === null ? 'every model' : row.allow_models.join(', ')}
              {row.allow_addresses !== null && ` from ${row.allow_addresses.join(', ')}`}
            </td>
            <td className="num"><Revoke slug={slug} keyId={row.key_id} name={row.name} onRevoked={onRevoked} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Asks once more before it revokes: what uses the key stops at once. */
function Revoke({ slug, keyId, name, onRevoked }: { slug: string; keyId: string; name: string; onRevoked: () => void }) {
  const [asking, setAsking] = useState(false);
  const revoke = useMutation({ mutationFn: () => consoleApi.revokeKey(slug, keyId), onSuccess: onRevoked });
  if (!asking) return <button className="danger" aria-label={`Revoke ${name}`} onClick={() => setAsking(true)}>Revoke</button>;
  return (
    <span className="confirm">
      {revoke.isError ? <span role="alert">{revoke.error.message}</span> : 'Its calls will be refused within a second.'}
      <button className="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>Revoke for good</button>
      <button disabled={revoke.isPending} onClick={() => setAsking(false)}>Keep it</button>
    </span>
  );
}

const minute = (instant: string): string => instant.slice(0, 16).replace('T', ' ');
