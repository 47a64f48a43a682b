import type { OperatorState } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import { ChaosReports } from '../chaos/chaos-reports.tsx';
import { Anomalies } from './anomalies.tsx';
import { Gateways } from './gateways.tsx';
import { KillSwitchNotice } from './kill-switch-notice.tsx';
import { Problems } from './problems.tsx';
import { Providers } from './providers.tsx';
import { Queues } from './queues.tsx';
import { Tenants } from './tenants.tsx';

/** The live picture during an incident: who is affected, which provider is ill, what waits where. */
export function Overview({ api, picture, still }: { api: OperatorApi; picture: OperatorState; still: boolean }) {
  const open = picture.chaos_reports.filter(({ phase }) => phase !== 'done');
  return (
    <>
      {/* A picture that stands still says nothing of now. */}
      {!still && <Problems problems={picture.problems} />}
      <KillSwitchNotice api={api} />
      {open.length > 0 && (
        <ChaosReports api={api} reports={open} now={Date.parse(picture.at)} title="Broken on purpose" />
      )}
      <Tenants picture={picture} />
      <div className="columns">
        <div className="stacked">
          <Providers picture={picture} />
          <Gateways picture={picture} />
        </div>
        <div className="stacked">
          <Queues api={api} picture={picture} />
          <Anomalies picture={picture} />
        </div>
      </div>
    </>
  );
}
