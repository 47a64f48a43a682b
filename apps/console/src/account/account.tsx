import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Badge } from '@sluice/ui';
import { consoleApi } from '../api/console-api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Instant } from '../parts/instant.tsx';
import { Loaded } from '../parts/load-state.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import { Invitations } from './invitations.tsx';
import { PasswordForm } from './password-form.tsx';
import { programInWords } from './program-in-words.ts';

/** The person's own: where they are signed in, any of which can be ended, and their password. */
export function Account() {
  const queryClient = useQueryClient();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: consoleApi.sessions });
  return (
    <>
      <PageHead title="Your account">Where you are signed in, and your password.</PageHead>
      <Panel title="Sessions" note="End what you do not know, and change your password then.">
        <Loaded query={sessions}>
          {(data) => (
            <div className="scroll-x">
              <table className="cards">
                <thead>
                  <tr>
                    <th>Where</th>
                    <th>Since</th>
                    <th>Last used</th>
                    <th>Ends</th>
                    <th>
                      <span className="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.rows.map((row) => (
                    <tr key={row.session_id}>
                      <td>
                        <span className="break" title={row.agent ?? undefined}>
                          {programInWords(row.agent)}
                        </span>{' '}
                        {row.current && <Badge tone="good">this one</Badge>}
                        <div className="muted">{row.address ?? ''}</div>
                      </td>
                      <td data-label="Since">
                        <Instant at={row.created_at} />
                      </td>
                      <td data-label="Last used">
                        <Instant at={row.last_used_at} />
                      </td>
                      <td data-label="Ends">
                        <Instant at={row.expires_at} />
                      </td>
                      <td className="row-actions">
                        {!row.current && (
                          <Confirm
                            verb="End"
                            name={`End the session of ${programInWords(row.agent)}`}
                            warning="It has to sign in again."
                            confirm="End it"
                            keep="Keep it"
                            act={async () => {
                              await consoleApi.endSession(row.session_id);
                              await queryClient.invalidateQueries({ queryKey: ['sessions'] });
                            }}
                          />
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Loaded>
      </Panel>
      <Invitations />
      <PasswordForm />
    </>
  );
}
