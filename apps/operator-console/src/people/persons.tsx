import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { OperatorState } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import type { PersonRow } from '../api/people-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { MoreRows } from '../edit/more-rows.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRefusal } from '../session/role.tsx';
import { PersonForm } from './person-form.tsx';

/** The customers' people with their role in each workspace: found, added, changed, removed. */
export function Persons({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const [filter, setFilter] = useState({ q: '', workspace: '' });
  const [open, setOpen] = useState<PersonRow | 'new'>();
  const refusal = useRefusal('admin');
  const people = useInfiniteQuery({
    queryKey: ['people', filter],
    queryFn: ({ pageParam }) => api.people.people({ ...filter, cursor: pageParam }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  });
  const remove = useMutation({
    mutationFn: ({ id, version }: PersonRow) => api.people.removePerson(id, version),
    onSettled: () => void people.refetch(),
  });
  const workspaces = picture.tenants.flatMap((tenant) => tenant.workspaces);
  const rows = people.data?.pages.flatMap((page) => page.rows);
  const search = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setFilter({ q: String(form.get('q')).trim(), workspace: String(form.get('workspace')) });
  };
  const done = (): void => {
    setOpen(undefined);
    void people.refetch();
  };
  return (
    <ListPanel
      id="people"
      title="Customers' people"
      tools={
        <form className="inline" onSubmit={search}>
          <input
            name="q"
            placeholder="part of an e-mail address"
            aria-label="Part of an e-mail address"
            maxLength={100}
          />
          <select name="workspace" aria-label="Workspace">
            <option value="">every workspace</option>
            {workspaces.map((slug) => (
              <option key={slug}>{slug}</option>
            ))}
          </select>
          <button type="submit">Find</button>
        </form>
      }
      button={
        <button
          type="button"
          disabled={refusal !== undefined || open !== undefined}
          title={refusal}
          onClick={() => setOpen('new')}
        >
          New person
        </button>
      }
      problem={people.error ?? remove.error}
      rows={rows}
      keyOf={({ id }) => id}
      empty={filter.q === '' && filter.workspace === '' ? 'Nobody has an account yet.' : 'Nobody matches.'}
      columns={[
        { head: 'e-mail address', cell: ({ value }) => value.email },
        { head: 'roles', cell: ({ value }) => rolesInWords(value.roles) },
      ]}
      actions={(row) => (
        <>
          <button
            type="button"
            disabled={refusal !== undefined || open !== undefined}
            title={refusal}
            aria-label={`Change ${row.value.email}`}
            onClick={() => setOpen(row)}
          >
            Change
          </button>
          <SureButton
            verb="Remove"
            name={row.value.email}
            refusal={refusal}
            disabled={remove.isPending}
            onSure={() => remove.mutate(row)}
          />
        </>
      )}
      foot={<MoreRows query={people} noun="people" />}
    >
      {open !== undefined && (
        <PersonForm
          key={open === 'new' ? 'new' : open.id}
          api={api}
          row={open === 'new' ? undefined : open}
          workspaces={workspaces}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </ListPanel>
  );
}

function rolesInWords(roles: PersonRow['value']['roles']): string {
  const words = Object.entries(roles).map(([slug, role]) => `${role} of ${slug}`);
  return words.length === 0 ? 'none: may sign in and sees nothing' : words.join(', ');
}
