import { useMutation } from '@tanstack/react-query';
import { useId, useState, type FormEvent } from 'react';
import type { Role } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { PersonRow } from '../api/people-api.ts';
import { ConflictNotice } from '../edit/conflict-notice.tsx';
import { showDocument } from '../edit/parse-document.ts';
import { Problem } from '../edit/problem.tsx';
import { useVersionedSave } from '../edit/use-versioned-save.ts';

const ROLES = ['viewer', 'developer', 'finance', 'admin'] as const satisfies readonly Role[];

export interface PersonFormProps {
  readonly api: OperatorApi;
  /** Who is changed; somebody new when absent. */
  readonly row: PersonRow | undefined;
  /** Slugs to choose from. */
  readonly workspaces: readonly string[];
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** A person's roles and password. */
export function PersonForm({ api, row, workspaces, onDone, onCancel }: PersonFormProps) {
  const [base, setBase] = useState(row);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [roles, setRoles] = useState<Record<string, Role>>({ ...row?.value.roles });
  const add = useMutation({ mutationFn: api.people.addPerson, onSuccess: onDone });
  const { saving, theirs, forget } = useVersionedSave<PersonRow['value']>({
    save: (value, version) => api.people.changePerson(row?.id ?? '', value, version),
    reload: () => api.people.person(row?.id ?? ''),
    onSaved: onDone,
  });
  const value = { roles, ...(password === '' ? {} : { password }) };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (base === undefined) add.mutate({ email: email.trim(), password, roles });
    else saving.mutate({ value, version: base.version });
  };
  return (
    <form className="editor card" onSubmit={submit} aria-label={base === undefined ? 'A new person' : base.value.email}>
      {base !== undefined && <strong>{base.value.email}</strong>}
      <div className="limit-fields plain">
        {base === undefined && (
          <label>
            E-mail address
            <input type="email" value={email} onChange={(event) => setEmail(event.target.value)} required autoFocus autoComplete="off" />
          </label>
        )}
        <label>
          {base === undefined ? 'Password, 12 characters at least' : 'New password, if any'}
          <input type="password" value={password} onChange={(event) => setPassword(event.target.value)} minLength={12} required={base === undefined} autoComplete="new-password" />
        </label>
      </div>
      <RoleFields roles={roles} workspaces={workspaces} onChange={setRoles} />
      {theirs !== undefined && base !== undefined && (
        <ConflictNotice
          began={base.version}
          now={theirs.version}
          theirs={showDocument(theirs.value.roles)}
          mine={showDocument(roles)}
          onTheirs={() => {
            setBase({ ...base, ...theirs });
            setRoles({ ...theirs.value.roles });
            forget();
          }}
          onMine={() => saving.mutate({ value, version: theirs.version })}
        />
      )}
      {theirs === undefined && <Problem error={saving.error ?? add.error} />}
      <div className="inline">
        <button type="submit" className="primary" disabled={saving.isPending || add.isPending || theirs !== undefined}>
          {base === undefined ? 'Add the person' : 'Save'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function RoleFields({ roles, workspaces, onChange }: { roles: Record<string, Role>; workspaces: readonly string[]; onChange: (roles: Record<string, Role>) => void }) {
  const list = useId();
  const [slug, setSlug] = useState('');
  const free = workspaces.filter((one) => !Object.hasOwn(roles, one));
  const add = (): void => {
    if (slug.trim() === '') return;
    onChange({ ...roles, [slug.trim()]: 'viewer' });
    setSlug('');
  };
  return (
    <fieldset className="limit-fields rows">
      <legend className="muted">Roles, by workspace</legend>
      {Object.entries(roles).map(([workspace, role]) => (
        <span key={workspace} className="inline">
          <label className="inline">
            {workspace}
            <select value={role} onChange={(event) => onChange({ ...roles, [workspace]: event.target.value as Role })}>
              {ROLES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <button type="button" className="quiet" aria-label={`Remove the role in ${workspace}`} onClick={() => onChange(Object.fromEntries(Object.entries(roles).filter(([one]) => one !== workspace)))}>
            Remove
          </button>
        </span>
      ))}
      <span className="inline">
        <input value={slug} onChange={(event) => setSlug(event.target.value)} list={list} placeholder="another workspace" aria-label="Another workspace" spellCheck={false} />
        <datalist id={list}>
          {free.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <button type="button" onClick={add} disabled={slug.trim() === ''}>
          Add a role
        </button>
      </span>
    </fieldset>
  );
}
