import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Workspace } from '@sluice/contracts';
import { Badge } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { DocumentForm, type FieldGroup } from '../edit/document-form.tsx';
import { valueAt } from '../edit/document-paths.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { Link } from '../routing/location.tsx';
import { useRefusal } from '../session/role.tsx';

/** The workspaces of a tenant: made, changed, deleted. */
export function Workspaces({ api, tenant }: { api: OperatorApi; tenant: string }) {
  const workspaces = useQuery({
    queryKey: ['workspaces', tenant],
    queryFn: () => api.tables.page('workspaces', { tenant, limit: '1000' }),
    staleTime: 0,
  });
  const [open, setOpen] = useState<Row<Workspace> | 'new'>();
  const refusal = useRefusal('admin');
  const remove = useMutation({
    mutationFn: ({ id, version }: Row<Workspace>) => api.tables.remove('workspaces', id, version),
    onSettled: () => void workspaces.refetch(),
  });
  const done = (): void => {
    setOpen(undefined);
    void workspaces.refetch();
  };
  return (
    <ListPanel
      id="workspaces"
      title="Workspaces"
      hint="what keys, people and usage belong to"
      button={
        <button
          type="button"
          disabled={refusal !== undefined || open !== undefined}
          title={refusal}
          onClick={() => setOpen('new')}
        >
          New workspace
        </button>
      }
      problem={workspaces.error ?? remove.error}
      rows={workspaces.data?.rows}
      keyOf={({ id }) => id}
      empty="No workspace yet, so nothing can call. Make the first, then a key for it."
      columns={[
        {
          head: 'workspace',
          cell: ({ id, value }) => (
            <>
              {id} {value.status === 'suspended' && <Badge tone="warn">suspended</Badge>}
            </>
          ),
        },
        { head: 'cell', cell: ({ value }) => value.cellId },
        { head: 'known to providers as', cell: ({ value }) => <code className="nowrap">{value.uuid}</code> },
      ]}
      actions={(row) => (
        <>
          <button
            type="button"
            disabled={refusal !== undefined || open !== undefined}
            title={refusal}
            aria-label={`Change ${row.id}`}
            onClick={() => setOpen(row)}
          >
            Change
          </button>
          <SureButton
            verb="Delete"
            name={row.id}
            refusal={refusal}
            disabled={remove.isPending}
            onSure={() => remove.mutate(row)}
          />
        </>
      )}
      foot={
        <p className="muted">
          Who may see and change them in the tenant console stands under <Link to="/people">People</Link>.
        </p>
      }
    >
      {open !== undefined && (
        <WorkspaceForm
          key={open === 'new' ? 'new' : open.id}
          api={api}
          tenant={tenant}
          row={open === 'new' ? undefined : open}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </ListPanel>
  );
}

function WorkspaceForm({
  api,
  tenant,
  row,
  onDone,
  onCancel,
}: {
  api: OperatorApi;
  tenant: string;
  row: Row<Workspace> | undefined;
  onDone: () => void;
  onCancel: () => void;
}) {
  const cells = useQuery({ queryKey: ['cells'], queryFn: () => api.tables.list('cells') });
  const open = (cells.data ?? []).filter(({ value }) => value.kind === 'shared' || value.tenant === tenant);
  const groups = (_document: unknown, isNew: boolean): readonly FieldGroup[] => [
    {
      legend: isNew ? 'A new workspace' : `Workspace ${row?.id ?? ''}`,
      fields: [
        ...(isNew
          ? [
              {
                label: 'Name',
                path: ['slug'],
                required: true,
                placeholder: `${tenant}-prod`,
                hint: 'Lower-case letters, digits and hyphens; unique everywhere, and it never changes.',
              },
            ]
          : []),
        {
          label: 'Cell',
          path: ['cellId'],
          hint: 'The copy of the data plane that serves it.',
          choices: [
            ...(isNew ? [{ value: undefined, word: 'the shared one' }] : []),
            ...open.map(({ id, value }) => ({ value: id, word: value.kind === 'dedicated' ? `${id}, its own` : id })),
          ],
        },
        {
          label: 'Calls',
          path: ['status'],
          choices: [
            { value: isNew ? undefined : 'active', word: 'are served' },
            { value: 'suspended', word: 'are refused: suspended' },
          ],
        },
      ],
    },
  ];
  return (
    <DocumentForm<Workspace>
      label={row === undefined ? 'A new workspace' : `Workspace ${row.id}`}
      row={row}
      start={{ tenant }}
      groups={groups}
      save={(document, version) => api.tables.put('workspaces', row?.id ?? slugOf(document), document, version)}
      reload={() => api.tables.get('workspaces', row?.id ?? '')}
      onDone={onDone}
      onCancel={onCancel}
      verb={row === undefined ? 'Make the workspace' : 'Save'}
      note={row === undefined ? 'It begins with the policy of the plan.' : undefined}
      taken={(document) =>
        `There is a workspace “${slugOf(document)}” already. Names of workspaces are unique over all tenants: choose another.`
      }
    />
  );
}

const slugOf = (document: unknown): string => String(valueAt(document, ['slug']) ?? '');
