import { useId, useState } from 'react';
import type { Role } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { PersonRow } from '../api/people-api.ts';
import { RowForm } from '../edit/row-form.tsx';
import { useRowEdit } from '../edit/use-row-edit.ts';

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
  const edit = useRowEdit<PersonRow['value'], Draft>({
    row,
    draftOf: (value) => ({ email: value?.email ?? '', password: '', roles: { ...value?.roles } }),
    valueOf: ({ email, password, roles }) => ({
      ...(row === undefined ? { email: email.trim() } : {}),
      ...(password === '' ? {} : { password }),
      roles,
    }),
    shownOf: ({ roles }) => roles,
    save: (value, version) =>
      version === 'new' ? api.people.addPerson(value) : api.people.changePerson(row?.id ?? '', value, version),
    reload: () => api.people.person(row?.id ?? ''),
    onSaved: onDone,
    taken: () => 'There is somebody with this e-mail address.',
  });
  const { draft, change } = edit;
  return (
    <RowForm
      label={row?.value.email ?? 'A new person'}
      edit={edit}
      verb={row === undefined ? 'Add the person' : 'Save'}
      onCancel={onCancel}
    >
      {row !== undefined && <strong>{row.value.email}</strong>}
      <div className="limit-fields plain">
        {row === undefined && (
          <label>
            E-mail address
            <input
              type="email"
              value={draft.email}
              onChange={(event) => change({ ...draft, email: event.target.value })}
              required
              autoFocus
              autoComplete="off"
            />
          </label>
        )}
        <label>
          {row === undefined ? 'Password, 12 characters at least' : 'New password, if any'}
          <input
            type="password"
            value={draft.password}
            onChange={(event) => change({ ...draft, password: event.target.value })}
            minLength={12}
            required={row === undefined}
            autoComplete="new-password"
          />
        </label>
      </div>
      <RoleFields roles={draft.roles} workspaces={workspaces} onChange={(roles) => change({ ...draft, roles })} />
    </RowForm>
  );
}

type Draft = { readonly email: string; readonly password: string; readonly roles: Record<string, Role> };

function RoleFields({
  roles,
  workspaces,
  onChange,
}: {
  roles: Record<string, Role>;
  workspaces: readonly string[];
  onChange: (roles: Record<string, Role>) => void;
}) {
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
          <button
            type="button"
            className="quiet"
            aria-label={`Remove the role in ${workspace}`}
            onClick={() => onChange(Object.fromEntries(Object.entries(roles).filter(([one]) => one !== workspace)))}
          >
            Remove
          </button>
        </span>
      ))}
      <span className="inline">
        <input
          value={slug}
          onChange={(event) => setSlug(event.target.value)}
          list={list}
          placeholder="another workspace"
          aria-label="Another workspace"
          spellCheck={false}
        />
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
