import { useMutation } from '@tanstack/react-query';
import { useContext, useEffect } from 'react';
import type { OperatorState } from '@sluice/contracts';
import { Badge } from '@sluice/ui';
import type { OperatorApi } from './api/operator-api.ts';
import { ChaosPage } from './chaos/chaos-page.tsx';
import { KillSwitchesPage } from './kill-switches/kill-switches-page.tsx';
import { useLiveState } from './live/use-live-state.ts';
import { ModelPage } from './models/model-page.tsx';
import { ModelsPage } from './models/models-page.tsx';
import { Overview } from './overview/overview.tsx';
import { PeoplePage } from './people/people-page.tsx';
import { PlanPage } from './plans/plan-page.tsx';
import { PlansPage } from './plans/plans-page.tsx';
import { ProviderPage } from './providers/provider-page.tsx';
import { ProvidersPage } from './providers/providers-page.tsx';
import { RequestPage } from './requests/request-page.tsx';
import { RequestsPage } from './requests/requests-page.tsx';
import { RouterPage } from './router/router-page.tsx';
import { Link, usePlace, type Place } from './routing/location.tsx';
import { SessionContext } from './session/role.tsx';
import { TenantsPage } from './tenant/tenants-page.tsx';
import { TenantPage } from './tenant/tenant-page.tsx';

const SETUP: readonly { to: string; word: string; pages: readonly Place['page'][] }[] = [
  { to: '/tenants', word: 'Tenants', pages: ['tenants', 'tenant'] },
  { to: '/providers', word: 'Providers', pages: ['providers', 'provider'] },
  { to: '/plans', word: 'Plans', pages: ['plans', 'plan'] },
  { to: '/models', word: 'Models', pages: ['models', 'model'] },
  { to: '/kill-switches', word: 'Kill switches', pages: ['kill-switches'] },
  { to: '/people', word: 'People', pages: ['people'] },
];

/** What stands on every page: where to go, whether the picture moves, and what is broken on purpose. */
export function Shell({ api, onSignedOut }: { api: OperatorApi; onSignedOut: () => void }) {
  const { picture, lost } = useLiveState(api);
  const place = usePlace();
  const session = useContext(SessionContext);
  const title = titleOf(place);
  useEffect(() => {
    document.title = `${title} · Sluice operator console`;
  }, [title]);
  const signOut = useMutation({ mutationFn: api.signOut, onSettled: onSignedOut });
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <h1>
          <Link to="/">Sluice</Link>
        </h1>
        <nav aria-label="Pages">
          <Link to="/" current={place.page === 'overview'}>
            Overview
          </Link>
          <Link to="/requests" current={place.page === 'requests' || place.page === 'request'}>
            Requests
          </Link>
          <Link to="/router" current={place.page === 'router'}>
            Router
          </Link>
          {picture?.chaos_enabled === true && (
            <Link to="/chaos" current={place.page === 'chaos'}>
              Chaos
            </Link>
          )}
          {SETUP.map(({ to, word, pages }) => (
            <Link key={to} to={to} current={pages.includes(place.page)}>
              {word}
            </Link>
          ))}
        </nav>
        <Pulse picture={picture} lost={lost !== undefined} />
        <span className="muted who">
          {session.user} · {session.role}
        </span>
        <button type="button" onClick={() => signOut.mutate()}>
          Sign out
        </button>
      </header>
      <main className="page" id="content">
        {lost !== undefined && (
          <p className="notice bad" role="alert">
            The control plane does not answer, so this picture stands still. Inference goes on without it. {lost}
          </p>
        )}
        {picture === undefined ? (
          lost === undefined && <p className="muted">Waiting for the first picture…</p>
        ) : (
          <Page place={place} api={api} picture={picture} still={lost !== undefined} />
        )}
      </main>
    </>
  );
}

/** What the window is called: `Plan team`, `Kill switches`. */
function titleOf(place: Place): string {
  const word = place.page.replace('-', ' ').replace(/^./, (letter) => letter.toUpperCase());
  return place.page === 'unknown' ? 'Not found' : 'id' in place ? `${word} ${place.id}` : word;
}

function Page({
  place,
  api,
  picture,
  still,
}: {
  place: Place;
  api: OperatorApi;
  picture: OperatorState;
  still: boolean;
}) {
  switch (place.page) {
    case 'overview':
      return <Overview api={api} picture={picture} still={still} />;
    case 'chaos':
      return <ChaosPage api={api} picture={picture} />;
    case 'tenants':
      return <TenantsPage api={api} picture={picture} />;
    case 'providers':
      return <ProvidersPage api={api} />;
    case 'tenant':
      return <TenantPage key={place.id} api={api} picture={picture} id={place.id} />;
    case 'provider':
      return <ProviderPage key={place.id} api={api} picture={picture} id={place.id} />;
    case 'requests':
      return (
        <RequestsPage
          key={`${place.tenant} ${place.outcome}`}
          api={api}
          picture={picture}
          tenant={place.tenant}
          outcome={place.outcome}
        />
      );
    case 'request':
      return <RequestPage key={place.id} api={api} id={place.id} />;
    case 'router':
      return <RouterPage api={api} />;
    case 'plans':
      return <PlansPage api={api} picture={picture} />;
    case 'plan':
      return <PlanPage key={place.id} api={api} picture={picture} id={place.id} />;
    case 'models':
      return <ModelsPage api={api} picture={picture} />;
    case 'model':
      return <ModelPage key={place.id} api={api} id={place.id} />;
    case 'kill-switches':
      return <KillSwitchesPage api={api} picture={picture} />;
    case 'people':
      return <PeoplePage api={api} picture={picture} />;
    case 'unknown':
      return (
        <section className="panel">
          <h2>There is no such page</h2>
          <p>
            <Link to="/">Back to the overview</Link>
          </p>
        </section>
      );
  }
}

function Pulse({ picture, lost }: { picture: OperatorState | undefined; lost: boolean }) {
  if (picture === undefined) return <span className="grow" />;
  const running = picture.chaos.length;
  return (
    <span className="grow pulse num">
      <Badge tone={lost ? 'bad' : 'good'}>
        {lost ? 'stands still since' : 'live'} {new Date(picture.at).toLocaleTimeString('en-GB')}
      </Badge>
      {running > 0 && (
        <Link to="/chaos">
          <Badge tone="warn">{running} broken on purpose</Badge>
        </Link>
      )}
      <span className="muted">
        configuration {picture.config_version} ·{' '}
        {picture.ledger === null
          ? 'ledger unknown'
          : `${picture.ledger.rows.toLocaleString('en-US')} calls in the ledger`}
      </span>
    </span>
  );
}
