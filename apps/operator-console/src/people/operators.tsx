import { useMutation, useQuery } from '@tanstack/react-query';
import { useContext, useState, type FormEvent } from 'react';
import type { OperatorRole } from '@sluice/contracts';
import { Badge } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { OperatorRow } from '../api/people-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { Problem } from '../edit/problem.tsx';
import { RowForm } from '../edit/row-form.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRowEdit } from '../edit/use-row-edit.ts';
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
  const remove = useMutation({
    mutationFn: ({ id, version }: OperatorRow) => api.people.removeOperator(id, version),
    onSettled: () => void accounts.refetch(),
  });
  const done = (): void => {
    setOpen(undefined);
    void accounts.refetch();
  };
  return (
    <ListPanel
      id="operators"
      title="Operators"
      hint="who may sign in here; the account of the environment (SLUICE_OPERATOR_USER) is not in the list"
      button={
        <button type="button" disabled={open !== undefined} onClick={() => setOpen('new')}>
          New operator
        </button>
      }
      problem={accounts.error ?? remove.error}
      rows={accounts.data}
      keyOf={({ id }) => id}
      empty="There are no accounts but the one of the environment."
      columns={[
        {
          head: 'name',
          cell: ({ id }) => (
            <>
              {id} {id === user && <span className="muted">(you)</span>}
            </>
          ),
        },
        {
          head: 'role',
          cell: ({ value }) => (
            <>
              {value.role} {!value.enabled && <Badge tone="warn">disabled</Badge>}
            </>
          ),
        },
        {
          head: 'since',
          figures: 'left',
          cell: ({ value }) => new Date(value.createdAt).toLocaleDateString('en-GB', { dateStyle: 'medium' }),
        },
      ]}
      actions={(row) => (
        <>
          <button
            type="button"
            disabled={open !== undefined}
            aria-label={`Change ${row.id}`}
            onClick={() => setOpen(row)}
          >
            Change
          </button>
          <SureButton verb="Remove" name={row.id} disabled={remove.isPending} onSure={() => remove.mutate(row)} />
        </>
      )}
    >
      {open === 'new' && <NewOperator api={api} onDone={done} onCancel={() => setOpen(undefined)} />}
      {open !== undefined && open !== 'new' && (
        <ChangeOperator
          key={open.id}
          api={api}
          row={open}
          reload={async () => (await accounts.refetch()).data ?? []}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </ListPanel>
  );
}

function NewOperator({ api, onDone, onCancel }: { api: OperatorApi; onDone: () => void; onCancel: () => void }) {
  const add = useMutation({ mutationFn: api.people.addOperator, onSuccess: onDone });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    add.mutate({
      name: String(form.get('name')),
      role: String(form.get('role')) as OperatorRole,
      password: String(form.get('password')),
    });
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

function ChangeOperator({
  api,
  row,
  reload,
  onDone,
  onCancel,
}: {
  api: OperatorApi;
  row: OperatorRow;
  reload: () => Promise<readonly OperatorRow[]>;
  onDone: () => void;
  onCancel: () => void;
}) {
  const edit = useRowEdit<OperatorRow['value'], Draft>({
    row,
    draftOf: (value) => ({ role: value?.role ?? 'viewer', enabled: value?.enabled ?? true, password: '' }),
    valueOf: (draft) => (draft.password === '' ? shownOf(draft) : draft),
    shownOf,
    save: (value, version) => api.people.changeOperator(row.id, value, version as number),
    reload: async () => {
      const found = (await reload()).find(({ id }) => id === row.id);
      if (found === undefined) throw new Error(`The account ${row.id} was removed meanwhile.`);
      return found;
    },
    onSaved: onDone,
    taken: () => '',
  });
  const { draft, change } = edit;
  return (
    <RowForm label={`Operator ${row.id}`} edit={edit} verb="Save" onCancel={onCancel}>
      <p>
        <strong>{row.id}</strong> <span className="muted">whatever changes, its sessions end</span>
      </p>
      <div className="limit-fields plain">
        <RoleSelect value={draft.role} onChange={(role) => change({ ...draft, role })} />
        <label>
          Sign-in
          <select
            value={String(draft.enabled)}
            onChange={(event) => change({ ...draft, enabled: event.target.value === 'true' })}
          >
            <option value="true">allowed</option>
            <option value="false">disabled</option>
          </select>
        </label>
        <label>
          New password, if any
          <input
            type="password"
            minLength={12}
            autoComplete="new-password"
            value={draft.password}
            onChange={(event) => change({ ...draft, password: event.target.value })}
          />
        </label>
      </div>
    </RowForm>
  );
}

const shownOf = ({ role, enabled }: Draft): Omit<Draft, 'password'> => ({ role, enabled });

function RoleSelect({
  value,
  defaultValue,
  onChange,
}: {
  value?: OperatorRole;
  defaultValue?: OperatorRole;
  onChange?: (role: OperatorRole) => void;
}) {
  return (
    <label>
      Role
      <select
        name="role"
        value={value}
        defaultValue={defaultValue}
        onChange={(event) => onChange?.(event.target.value as OperatorRole)}
      >
        {ROLES.map(({ id, may }) => (
          <option key={id} value={id}>
            {id}: {may}
          </option>
        ))}
      </select>
    </label>
  );
}
