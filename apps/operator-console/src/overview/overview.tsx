import { useMutation, useQuery } from '@tanstack/react-query';
import type { OperatorState } from '@sluice/contracts';
import { OutcomeLegend, groupCounts } from '@sluice/ui';
import type { OperatorApi } from '../api/operator-api.ts';
import { Anomalies } from './anomalies.tsx';
import { ChaosBar } from './chaos-bar.tsx';
import { Gateways } from './gateways.tsx';
import { Providers } from './providers.tsx';
import { Queues } from './queues.tsx';
import { TenantPanel } from './tenant-panel.tsx';

/** The live picture during an incident: who is affected, which provider is ill, what waits where. Renewed each second. */
export function Overview({ api, onSignedOut }: { api: OperatorApi; onSignedOut: () => void }) {
  const state = useQuery({ queryKey: ['state'], queryFn: api.state, refetchInterval: 1_000 });
  const signOut = useMutation({ mutationFn: api.signOut, onSettled: onSignedOut });
  const picture = state.data;
  return (
    <>
      <header className="top">
        <h1>Sluice</h1>
        <span className="muted">operator console</span>
        <Pulse state={picture} failing={state.isError} />
        <button type="button" onClick={() => signOut.mutate()}>
          Sign out
        </button>
      </header>
      <main className="page">
        {state.isError && (
          <p className="notice bad" role="alert">
            The control plane does not answer, so this picture stands still. Inference goes on without it. {state.error.message}
          </p>
        )}
        {picture === undefined ? <p className="muted">Waiting for the first picture…</p> : <Picture api={api} picture={picture} />}
      </main>
    </>
  );
}

function Pulse({ state, failing }: { state: OperatorState | undefined; failing: boolean }) {
  if (state === undefined) return <span className="grow" />;
  return (
    <span className="grow muted num">
      {failing ? 'last picture' : 'live'} {new Date(state.at).toLocaleTimeString('en-GB')} · configuration {state.config_version} ·{' '}
      {state.ledger === null ? 'ledger unknown' : `${state.ledger.rows.toLocaleString('en-US')} calls in the ledger`}
    </span>
  );
}

function Picture({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const max = Math.max(1, ...picture.tenants.flatMap((tenant) => tenant.seconds.map((second) => sum(second.outcomes))));
  return (
    <>
      {picture.problems.map((problem) => (
        <p key={problem} className="notice warn" role="status">
          {problem}
        </p>
      ))}
      {picture.chaos_enabled && <ChaosBar api={api} picture={picture} />}
      <section aria-labelledby="tenants">
        <div className="section-head">
          <h2 id="tenants">Tenants, the last two minutes</h2>
          <OutcomeLegend />
        </div>
        {picture.tenants.length === 0 ? (
          <p className="panel muted">No tenant is configured yet.</p>
        ) : (
          <div className="tenants">
            {picture.tenants.map((tenant) => (
              <TenantPanel key={tenant.tenant} tenant={tenant} max={max} />
            ))}
          </div>
        )}
      </section>
      <div className="columns">
        <Providers picture={picture} />
        <Queues api={api} picture={picture} />
        <Gateways picture={picture} />
        <Anomalies picture={picture} />
      </div>
    </>
  );
}

function sum(outcomes: Parameters<typeof groupCounts>[0]): number {
  return Object.values(groupCounts(outcomes)).reduce((total, count) => total + count, 0);
}
