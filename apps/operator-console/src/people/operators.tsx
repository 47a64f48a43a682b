import { useMutation, useQuery } from '@tanstack/react-query';
import { useContext, useState, type FormEvent } from 'react';
import type { OperatorRole } from '@sluice/contracts';
import { Badge, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { OperatorRow } from '../api/people-api.ts';
import { ConflictNotice } from '../edit/conflict-notice.tsx';
import { showDocument } from '../edit/parse-document.ts';
import { Problem } from '../edit/problem.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useVersionedSave } from '../edit/use-versioned-save.ts';
import { SessionContext } from '../session/role.tsx';

const ROLES: readonly { id: OperatorRole; may: string }[] = [
  { id: 'viewer', may: 'sees' },
  { id: 'operator', may: 'acts in an incident' },
  { id: 'admin', may: 'changes everything' },
];

/** Accounts of operators: added, changed, disabled, removed. */
export function Operators({ api }: { api: OperatorApi }) {
  const accounts = useQuery({ queryKey: ['operators'], queryFn: api.people.operators, staleTime: 0 });
  const [open, setOpen] = useState<OperatorRow | 'new'>();
  const { user } = useContext(SessionContext);
  const remove = useMutation({ mutationFn: ({ id, version }: OperatorRow) => api.people.removeOperator(id, version), onSettled: () => void accounts.refetch() });
  const done = (): void => {
    setOpen(undefined);
    void accounts.refetch();
  };
  return (
    <section className="panel" aria-labelledby="operators">
      <div className="section-head">
        <h2 id="operators">Operators</h2>
        <span className="muted">who may sign in here; the account of the environment (SLUICE_OPERATOR_USER) is not in the list</span>
        <span className="grow" />
        <button type="button" disabled={open !== undefined} onClick={() => setOpen('new')}>
          New operator
        </button>
      </div>
      <Problem error={accounts.error ?? remove.error} />
      {open === 'new' && <NewOperator api={api} onDone={done} onCancel={() => setOpen(undefined)} />}
      {open !== undefined && open !== 'new' && <ChangeOperator key={open.id} api={api} row={open} reload={async () => (await accounts.refetch()).data ?? []} onDone={done} onCancel={() => setOpen(undefined)} />}
      {accounts.isPending && <p className="muted">One moment…</p>}
      {accounts.data?.length === 0 && <p className="empty">There are no accounts but the one of the environment.</p>}
      {accounts.data !== undefined && accounts.data.length > 0 && (
        <ScrollX label="Operators">
          <table>
            <thead>
              <tr>
                <th scope="col">name</th>
                <th scope="col">role</th>
                <th scope="col">since</th>
                <th scope="col">
                  <span className="visually-hidden">what can be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {accounts.data.map((row) => (
                <tr key={row.id}>
                  <th scope="row" className="row-name">
                    {row.id} {row.id === user && <span className="muted">(you)</span>}
                  </th>
                  <td>
                    {row.value.role} {!row.value.enabled && <Badge tone="warn">disabled</Badge>}
                  </td>
                  <td className="num-left">{new Date(row.value.createdAt).toLocaleDateString('en-GB', { dateStyle: 'medium' })}</td>
                  <td className="actions">
                    <span className="inline">
                      <button type="button" disabled={open !== undefined} aria-label={`Change ${row.id}`} onClick={() => setOpen(row)}>
                        Change
                      </button>
                      <SureButton verb="Remove" name={row.id} disabled={remove.isPending} onSure={() => remove.mutate(row)} />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
    </section>
  );
}

function NewOperator({ api, onDone, onCancel }: { api: OperatorApi; onDone: () => void; onCancel: () => void }) {
  const add = useMutation({ mutationFn: api.people.addOperator, onSuccess: onDone });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    add.mutate({ name: String(form.get('name')), role: String(form.get('role')) as OperatorRole, password: String(form.get('password')) });
  };
  return (
    <form className="editor card" onSubmit={submit} aria-label="A new operator">
      <div className="limit-fields plain">
        <label>
          Name
          <input name="name" required maxLength={100} autoFocus autoComplete="off" spellCheck={false} />
        </label>
        <RoleSelect defaultValue="viewer" />
        <label>
          Password, 12 characters at least
          <input name="password" type="password" required minLength={12} autoComplete="new-password" />
        </label>
      </div>
      <Problem error={add.error} />
      <div className="inline">
        <button type="submit" className="primary" disabled={add.isPending}>
          Add the operator
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

type Draft = { readonly role: OperatorRole; readonly enabled: boolean; readonly password: string };

function ChangeOperator({ api, row, reload, onDone, onCancel }: { api: OperatorApi; row: OperatorRow; reload: () => Promise<readonly OperatorRow[]>; onDone: () => void; onCancel: () => void }) {
  const [base, setBase] = useState(row);
  const [draft, setDraft] = useState<Draft>({ role: row.value.role, enabled: row.value.enabled, password: '' });
  const { saving, theirs, forget } = useVersionedSave<OperatorRow['value']>({
    save: (value, version) => api.people.changeOperator(row.id, value, version),
    reload: async () => {
      const found = (await reload()).find(({ id }) => id === row.id);
      if (found === undefined) throw new Error(`The account ${row.id} was removed meanwhile.`);
      return found;
    },
    onSaved: onDone,
  });
  const { password, ...shown } = draft;
  const value = password === '' ? shown : draft;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    saving.mutate({ value, version: base.version });
  };
  return (
    <form className="editor card" onSubmit={submit} aria-label={`Operator ${row.id}`}>
      <p>
        <strong>{row.id}</strong> <span className="muted">whatever changes, its sessions end</span>
      </p>
      <div className="limit-fields plain">
        <RoleSelect value={draft.role} onChange={(role) => setDraft({ ...draft, role })} />
        <label>
          Sign-in
          <select value={String(draft.enabled)} onChange={(event) => setDraft({ ...draft, enabled: event.target.value === 'true' })}>
            <option value="true">allowed</option>
            <option value="false">disabled</option>
          </select>
        </label>
        <label>
          New password, if any
          <input type="password" minLength={12} autoComplete="new-password" value={password} onChange={(event) => setDraft({ ...draft, password: event.target.value })} />
        </label>
      </div>
      {theirs !== undefined && (
        <ConflictNotice
          began={base.version}
          now={theirs.version}
          theirs={showDocument({ role: theirs.value.role, enabled: theirs.value.enabled })}
          mine={showDocument(shown)}
          onTheirs={() => {
            setBase({ ...base, ...theirs });
            setDraft({ role: theirs.value.role, enabled: theirs.value.enabled, password: '' });
            forget();
          }}
          onMine={() => saving.mutate({ value, version: theirs.version })}
        />
      )}
      {theirs === undefined && <Problem error={saving.error} />}
      <div className="inline">
        <button type="submit" className="primary" disabled={saving.isPending || theirs !== undefined}>
          Save
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function RoleSelect({ value, defaultValue, onChange }: { value?: OperatorRole; defaultValue?: OperatorRole; onChange?: (role: OperatorRole) => void }) {
  return (
    <label>
      Role
      <select name="role" value={value} defaultValue={defaultValue} onChange={(event) => onChange?.(event.target.value as OperatorRole)}>
        {ROLES.map(({ id, may }) => (
          <option key={id} value={id}>
            {id}: {may}
          </option>
        ))}
      </select>
    </label>
  );
}
