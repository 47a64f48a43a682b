import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChaosMenuItem, OperatorState } from '@sluice/contracts';
import type { OperatorApi } from '../api/operator-api.ts';
import { Providers } from '../overview/providers.tsx';
import { Queues } from '../overview/queues.tsx';
import { Tenants } from '../overview/tenants.tsx';
import { useRefusal } from '../session/role.tsx';
import { ChaosReports } from './chaos-reports.tsx';

const GROUPS = [
  { id: 'load', label: 'Load' },
  { id: 'provider', label: 'Providers' },
  { id: 'gateway', label: 'Gateway and limits' },
  { id: 'spine', label: 'Events' },
] as const satisfies readonly { id: ChaosMenuItem['group']; label: string }[];

/** Breaks something on purpose: says what to expect before it is pressed, and then whether it happened. */
export function ChaosPage({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const now = Date.parse(picture.at);
  const open = picture.chaos_reports.filter(({ phase }) => phase !== 'done');
  const done = picture.chaos_reports.filter(({ phase }) => phase === 'done');
  return (
    <>
      {picture.chaos_enabled ? (
        <Menu api={api} picture={picture} />
      ) : (
        <p className="notice info">Chaos is not enabled here (SLUICE_CHAOS=1 on the control plane enables it).</p>
      )}
      {open.length > 0 && <ChaosReports api={api} reports={open} now={now} title="Expected and observed" />}
      <Tenants picture={picture} />
      <div className="columns">
        <Providers picture={picture} />
        <Queues api={api} picture={picture} />
      </div>
      {done.length > 0 && <ChaosReports api={api} reports={done} now={now} title="Earlier, with the verdicts" />}
    </>
  );
}

function Menu({ api, picture }: { api: OperatorApi; picture: OperatorState }) {
  const [group, setGroup] = useState<ChaosMenuItem['group']>('load');
  const [provider, setProvider] = useState<string>();
  // What can be broken depends on which gateways are there.
  const menu = useQuery({
    queryKey: ['chaos-menu', picture.gateways.map(({ gateway_id, live }) => `${gateway_id} ${live}`).join()],
    queryFn: api.chaosMenu,
    placeholderData: (last) => last,
  });
  const start = useMutation({ mutationFn: api.startChaos });
  const refusal = useRefusal('operator');
  const items = (menu.data ?? []).filter((item) => item.group === group);
  const providers = [
    ...new Set(items.flatMap((item) => (typeof item.body['provider'] === 'string' ? [item.body['provider']] : []))),
  ];
  const chosen = provider ?? providers[0];
  const shown = group === 'provider' ? items.filter(({ body }) => body['provider'] === chosen) : items;
  return (
    <section className="panel chaos" aria-labelledby="break">
      <div className="section-head">
        <h2 id="break">Break something</h2>
        <div role="group" aria-label="What to break" className="tabs">
          {GROUPS.map(({ id, label }) => (
            <button key={id} type="button" aria-pressed={group === id} onClick={() => setGroup(id)}>
              {label}
            </button>
          ))}
        </div>
        {group === 'provider' && (
          <label className="inline">
            <span className="muted">provider</span>
            <select value={chosen} onChange={(event) => setProvider(event.target.value)}>
              {providers.map((id) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {refusal !== undefined && <p className="muted">{refusal}</p>}
      {menu.isError && (
        <p className="notice bad" role="alert">
          {menu.error.message}
        </p>
      )}
      <div className="cards">
        {shown.map((item) => (
          <Failure
            key={item.id}
            item={item}
            disabled={start.isPending || refusal !== undefined}
            onStart={() => start.mutate(item)}
          />
        ))}
      </div>
      {start.isError && (
        <p className="notice bad" role="alert">
          {start.error.message}
        </p>
      )}
    </section>
  );
}

function Failure({ item, disabled, onStart }: { item: ChaosMenuItem; disabled: boolean; onStart: () => void }) {
  const about = `about-${item.id}`;
  return (
    <div className="card">
      <button
        type="button"
        className="danger"
        aria-describedby={about}
        disabled={disabled || item.unavailable !== undefined}
        onClick={onStart}
      >
        {item.label}
      </button>
      <div id={about} className="small">
        <p>{capital(item.does)}.</p>
        <p className="muted">Expect:</p>
        <ul>
          {item.expects.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
        {item.unavailable !== undefined && <p className="muted">Not here: {item.unavailable}.</p>}
      </div>
    </div>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
