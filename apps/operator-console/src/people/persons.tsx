import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { OperatorState } from '@sluice/contracts';
import { ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { PersonRow } from '../api/people-api.ts';
import { Problem } from '../edit/problem.tsx';
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
  const remove = useMutation({ mutationFn: ({ id, version }: PersonRow) => api.people.removePerson(id, version), onSettled: () => void people.refetch() });
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
    <section className="panel" aria-labelledby="people">
      <div className="section-head">
        <h2 id="people">Customers' people</h2>
        <form className="inline" onSubmit={search}>
          <input name="q" placeholder="part of an e-mail address" aria-label="Part of an e-mail address" maxLength={100} />
          <select name="workspace" aria-label="Workspace">
            <option value="">every workspace</option>
            {workspaces.map((slug) => (
              <option key={slug}>{slug}</option>
            ))}
          </select>
          <button type="submit">Find</button>
        </form>
        <span className="grow" />
        <button type="button" disabled={refusal !== undefined || open !== undefined} title={refusal} onClick={() => setOpen('new')}>
          New person
        </button>
      </div>
      <Problem error={people.error ?? remove.error} />
      {open !== undefined && <PersonForm key={open === 'new' ? 'new' : open.id} api={api} row={open === 'new' ? undefined : open} workspaces={workspaces} onDone={done} onCancel={() => setOpen(undefined)} />}
      {people.isPending && <p className="muted">One moment…</p>}
      {rows?.length === 0 && <p className="empty">{filter.q === '' && filter.workspace === '' ? 'Nobody has an account yet.' : 'Nobody matches.'}</p>}
      {rows !== undefined && rows.length > 0 && (
        <ScrollX label="People">
          <table>
            <thead>
              <tr>
                <th scope="col">e-mail address</th>
                <th scope="col">roles</th>
                <th scope="col">
                  <span className="visually-hidden">what can be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id}>
                  <th scope="row" className="row-name">
                    {row.value.email}
                  </th>
                  <td>{rolesInWords(row.value.roles)}</td>
                  <td className="actions">
                    <span className="inline">
                      <button type="button" disabled={refusal !== undefined || open !== undefined} title={refusal} aria-label={`Change ${row.value.email}`} onClick={() => setOpen(row)}>
                        Change
                      </button>
                      <SureButton verb="Remove" name={row.value.email} refusal={refusal} disabled={remove.isPending} onSure={() => remove.mutate(row)} />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
      {people.hasNextPage && (
        <button type="button" disabled={people.isFetchingNextPage} onClick={() => void people.fetchNextPage()}>
          More people
        </button>
      )}
    </section>
  );
}

function rolesInWords(roles: PersonRow['value']['roles']): string {
  const words = Object.entries(roles).map(([slug, role]) => `${role} of ${slug}`);
  return words.length === 0 ? 'none: may sign in and sees nothing' : words.join(', ');
}
