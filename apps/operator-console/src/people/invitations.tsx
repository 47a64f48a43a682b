import { useMutation, useQuery } from '@tanstack/react-query';
import type { OperatorApi } from '../api/operator-api.ts';
import { ListPanel } from '../edit/list-panel.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRefusal } from '../session/role.tsx';

/** Invitations that customers' admins have sent and nobody has taken yet. */
export function Invitations({ api }: { api: OperatorApi }) {
  const invitations = useQuery({ queryKey: ['invitations'], queryFn: api.people.invitations, staleTime: 0 });
  const refusal = useRefusal('admin');
  const takeBack = useMutation({ mutationFn: api.people.takeBack, onSettled: () => void invitations.refetch() });
  return (
    <ListPanel
      id="invitations"
      title="Open invitations"
      hint="sent by customers' admins from their console; each lasts seven days, and its secret is known to them alone"
      problem={invitations.error ?? takeBack.error}
      rows={invitations.data?.rows}
      keyOf={({ id }) => id}
      empty="Nobody is invited."
      columns={[
        { head: 'e-mail address', cell: ({ email }) => email },
        { head: 'role', cell: ({ role, workspace }) => `${role} of ${workspace}` },
        {
          head: 'until',
          figures: 'left',
          cell: ({ expires_at }) =>
            new Date(expires_at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' }),
        },
      ]}
      actions={({ id, email }) => (
        <SureButton
          verb="Take back"
          name={`the invitation of ${email}`}
          refusal={refusal}
          disabled={takeBack.isPending}
          onSure={() => takeBack.mutate(id)}
        />
      )}
      foot={
        invitations.data?.next_cursor != null && (
          <p className="muted">
            There are more than {invitations.data.rows.length}; take-backs of the others by the API:{' '}
            <code>GET /api/invitations</code>
          </p>
        )
      }
    />
  );
}
