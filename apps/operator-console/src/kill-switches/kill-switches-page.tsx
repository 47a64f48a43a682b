import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KillSwitch, OperatorState } from '@sluice/contracts';
import { Badge, ScrollX } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import type { Row } from '../api/table-api.ts';
import { Problem } from '../edit/problem.tsx';
import { SureButton } from '../edit/sure-button.tsx';
import { useRefusal } from '../session/role.tsx';
import { KillSwitchForm } from './kill-switch-form.tsx';

/** What is switched off by hand, and for whom; set, changed and cleared here. */
export function KillSwitchesPage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const switches = useQuery({ queryKey: ['kill-switches'], queryFn: () => api.tables.list('kill-switches'), staleTime: 0, refetchInterval: 5_000 });
  const [open, setOpen] = useState<Row<KillSwitch> | 'new'>();
  const refusal = useRefusal('operator');
  const clear = useMutation({ mutationFn: ({ id, version }: Row<KillSwitch>) => api.tables.remove('kill-switches', id, version), onSettled: () => void switches.refetch() });
  const done = (): void => {
    setOpen(undefined);
    void switches.refetch();
  };
  return (
    <section className="panel" aria-labelledby="kill-switches">
      <div className="section-head">
        <h2 id="kill-switches">Kill switches</h2>
        <span className="muted">what is switched off by hand; callers get a 503 with the message, and other providers take over where a policy names them</span>
        <span className="grow" />
        <button type="button" className="danger" disabled={refusal !== undefined || open !== undefined} title={refusal} onClick={() => setOpen('new')}>
          Switch something off
        </button>
      </div>
      {refusal !== undefined && <p className="muted">{refusal}</p>}
      <Problem error={switches.error ?? clear.error} />
      {open !== undefined && <KillSwitchForm key={open === 'new' ? 'new' : open.id} api={api} picture={picture} row={open === 'new' ? undefined : open} onDone={done} onCancel={() => setOpen(undefined)} />}
      {switches.isPending && <p className="muted">One moment…</p>}
      {switches.data?.length === 0 && <p className="empty">Nothing is switched off.</p>}
      {switches.data !== undefined && switches.data.length > 0 && (
        <ScrollX label="Kill switches">
          <table>
            <thead>
              <tr>
                <th scope="col">off</th>
                <th scope="col">message to callers</th>
                <th scope="col" className="num">
                  come back after
                </th>
                <th scope="col">
                  <span className="visually-hidden">what can be done</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {switches.data.map((row) => (
                <tr key={row.id}>
                  <th scope="row" className="row-name">
                    <Badge tone="bad">{offInWords(row.value)}</Badge> <span className="muted small block">{row.id}</span>
                  </th>
                  <td>{row.value.message}</td>
                  <td className="num">{row.value.retryAfterSeconds} s</td>
                  <td className="actions">
                    <span className="inline">
                      <button type="button" disabled={refusal !== undefined || open !== undefined} title={refusal} aria-label={`Change ${row.id}`} onClick={() => setOpen(row)}>
                        Change
                      </button>
                      <SureButton verb="Switch on again:" name={offInWords(row.value)} refusal={refusal} disabled={clear.isPending} onSure={() => clear.mutate(row)} />
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

/** What a switch stops: `provider primary`, `everything`. */
export function offInWords({ scope, target }: Pick<KillSwitch, 'scope' | 'target'>): string {
  return scope === 'all' ? 'everything' : `${scope} ${target ?? ''}`.trim();
}
