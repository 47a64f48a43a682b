import { useMutation, useQuery } from '@tanstack/react-query';
import { ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { Problem } from '../edit/problem.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRefusal } from '../session/role.tsx';

/** Invitations that customers' admins have sent and nobody has taken yet. */
export function Invitations({ api }: { api: OperatorApi }) {
  const invitations = useQuery({ queryKey: ['invitations'], queryFn: api.people.invitations, staleTime: 0 });
  const refusal = useRefusal('admin');
  const takeBack = useMutation({ mutationFn: api.people.takeBack, onSettled: () => void invitations.refetch() });
  const rows = invitations.data?.rows ?? [];
  return (
    <section className="panel" aria-labelledby="invitations">
      <div className="section-head">
        <h2 id="invitations">Open invitations</h2>
        <span className="muted">sent by customers' admins from their console; each lasts seven days, and its secret is known to them alone</span>
      </div>
      <Problem error={invitations.error ?? takeBack.error} />
      {invitations.isPending && <p className="muted">One moment…</p>}
      {invitations.data !== undefined && rows.length === 0 && <p className="empty">Nobody is invited.</p>}
      {rows.length > 0 && (
        <ScrollX label="Open invitations">
          <table>
            <thead>
              <tr>
                <th scope="col">e-mail address</th>
                <th scope="col">role</th>
                <th scope="col">until</th>
                <th scope="col">
                  <span className="visually-hidden">what can be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id}>
                  <th scope="row" className="row-name">
                    {row.email}
                  </th>
                  <td>
                    {row.role} of {row.workspace}
                  </td>
                  <td className="num-left">{new Date(row.expires_at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}</td>
                  <td className="actions">
                    <SureButton verb="Take back" name={`the invitation of ${row.email}`} refusal={refusal} disabled={takeBack.isPending} onSure={() => takeBack.mutate(row.id)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
      {invitations.data?.next_cursor != null && <p className="muted">There are more than {rows.length}; take-backs of the others by the API: <code>GET /api/invitations</code></p>}
    </section>
  );
}
