import { useState, type FormEvent } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { OwnInvitationsView } from '@sluice/contracts';
import { consoleApi } from '../api/console-api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Field, FormFault } from '../parts/field.tsx';
import { Instant } from '../parts/instant.tsx';
import { Panel } from '../parts/page.tsx';

/** Workspaces that the person may join; a role holds only once it is taken here. Nothing is shown without one. */
export function Invitations() {
  const invitations = useQuery({ queryKey: ['invitations'], queryFn: consoleApi.invitations });
  const rows = invitations.data?.rows ?? [];
  if (rows.length === 0) return null;
  return (
    <Panel title="Invitations" note="A role holds once you have taken it, with the code that you were given.">
      {rows.map((row) => (
        <Invitation key={row.invitation_id} row={row} />
      ))}
    </Panel>
  );
}

function Invitation({ row }: { row: OwnInvitationsView['rows'][number] }) {
  const queryClient = useQueryClient();
  const [code, setCode] = useState('');
  const take = useMutation({
    mutationFn: () => consoleApi.takeInvitation(row.invitation_id, { invitation: code.trim() }),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    take.mutate();
  }
  return (
    <form onSubmit={submit} aria-label={`Invitation to ${row.workspace}`}>
      <p>
        <strong>{row.workspace}</strong> as {row.role}, until <Instant at={row.expires_at} />
      </p>
      <Field label="Code" hint="The last part of the link, after the #." error={take.error} path="invitation">
        {(props) => (
          <input
            {...props}
            required
            minLength={20}
            maxLength={100}
            value={code}
            onChange={(e) => setCode(e.target.value)}
          />
        )}
      </Field>
      <FormFault error={take.error} paths={['invitation']} />
      <button className="primary" disabled={take.isPending}>
        Accept
      </button>
      <Confirm
        verb="Decline"
        name={`Decline the invitation to ${row.workspace}`}
        warning="Who invited you has to invite you again."
        confirm="Decline it"
        keep="Keep it"
        act={async () => {
          await consoleApi.declineInvitation(row.invitation_id);
          await queryClient.invalidateQueries({ queryKey: ['invitations'] });
        }}
      />
    </form>
  );
}
