import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KillSwitch, OperatorState } from '@sluice/contracts';
import { Badge } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRefusal } from '../session/role.tsx';
import { KillSwitchForm } from './kill-switch-form.tsx';

/** What is switched off by hand, and for whom; set, changed and cleared here. */
export function KillSwitchesPage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const switches = useQuery({
    queryKey: ['kill-switches'],
    queryFn: () => api.tables.list('kill-switches'),
    staleTime: 0,
    refetchInterval: 5_000,
  });
  const [open, setOpen] = useState<Row<KillSwitch> | 'new'>();
  const refusal = useRefusal('operator');
  const clear = useMutation({
    mutationFn: ({ id, version }: Row<KillSwitch>) => api.tables.remove('kill-switches', id, version),
    onSettled: () => void switches.refetch(),
  });
  const done = (): void => {
    setOpen(undefined);
    void switches.refetch();
  };
  return (
    <ListPanel
      id="kill-switches"
      title="Kill switches"
      hint="what is switched off by hand; callers get a 503 with the message, and other providers take over where a policy names them"
      button={
        <button
          type="button"
          className="danger"
          disabled={refusal !== undefined || open !== undefined}
          title={refusal}
          onClick={() => setOpen('new')}
        >
          Switch something off
        </button>
      }
      problem={switches.error ?? clear.error}
      rows={switches.data}
      keyOf={({ id }) => id}
      empty="Nothing is switched off."
      columns={[
        {
          head: 'off',
          cell: ({ id, value }) => (
            <>
              <Badge tone="bad">{offInWords(value)}</Badge> <span className="muted small block">{id}</span>
            </>
          ),
        },
        { head: 'message to callers', cell: ({ value }) => value.message },
        { head: 'come back after', figures: 'right', cell: ({ value }) => `${value.retryAfterSeconds} s` },
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
            verb="Switch on again:"
            name={offInWords(row.value)}
            refusal={refusal}
            disabled={clear.isPending}
            onSure={() => clear.mutate(row)}
          />
        </>
      )}
    >
      {refusal !== undefined && <p className="muted">{refusal}</p>}
      {open !== undefined && (
        <KillSwitchForm
          key={open === 'new' ? 'new' : open.id}
          api={api}
          picture={picture}
          row={open === 'new' ? undefined : open}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </ListPanel>
  );
}

/** What a switch stops: `provider primary`, `everything`. */
export function offInWords({ scope, target }: Pick<KillSwitch, 'scope' | 'target'>): string {
  return scope === 'all' ? 'everything' : `${scope} ${target ?? ''}`.trim();
}
