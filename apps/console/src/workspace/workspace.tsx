import { useState } from 'react';
import type { Permission, SessionView } from '@sluice/contracts';
import { Keys } from './keys.tsx';
import { Overview } from './overview.tsx';
import { Requests } from './requests.tsx';
import { Usage } from './usage.tsx';

const PAGES = [
  { id: 'overview', title: 'Overview', permission: 'usage:read' },
  { id: 'usage', title: 'Usage', permission: 'usage:read' },
  { id: 'requests', title: 'Requests', permission: 'trace:read' },
  { id: 'keys', title: 'API keys', permission: 'keys:write' },
] as const satisfies readonly { id: string; title: string; permission: Permission }[];
type PageId = (typeof PAGES)[number]['id'];

const NOT_THERE_YET = ['Limits and policy', 'Members', 'Billing', 'Playground'];

/** Everything of one workspace, with the switch to the person's other ones. */
export function Workspace({ session, onSignOut }: { session: SessionView; onSignOut: () => void }) {
  const slugs = Object.keys(session.roles).sort();
  const [chosen, setChosen] = useState(slugs[0]);
  const [page, setPage] = useState<PageId>('overview');

  return (
    <>
      <header className="top">
        <h1>Sluice</h1>
        <label>
          <span className="muted">Workspace</span>
          <select value={chosen} onChange={(e) => setChosen(e.target.value)}>
            {slugs.map((slug) => (
              <option key={slug}>{slug}</option>
            ))}
          </select>
        </label>
        <nav aria-label="Pages">
          {PAGES.map(({ id, title }) => (
            <button key={id} aria-current={id === page ? 'page' : undefined} onClick={() => setPage(id)}>
              {title}
            </button>
          ))}
        </nav>
        <span className="who muted">
          {session.email}
          {chosen !== undefined && ` · ${session.roles[chosen]}`}
        </span>
        <button onClick={onSignOut}>Sign out</button>
      </header>
      <main>{chosen === undefined ? <p>You have no role in any workspace.</p> : <Page key={chosen} id={page} slug={chosen} permissions={session.permissions[chosen] ?? []} />}</main>
      <footer className="muted">Not there yet: {NOT_THERE_YET.join(', ')}.</footer>
    </>
  );
}

function Page({ id, slug, permissions }: { id: PageId; slug: string; permissions: readonly Permission[] }) {
  const needed = PAGES.find((page) => page.id === id)?.permission;
  if (needed !== undefined && !permissions.includes(needed)) {
    return <p className="notice warn">Your role in this workspace does not include this page (it needs {needed}).</p>;
  }
  switch (id) {
    case 'overview':
      return <Overview slug={slug} />;
    case 'usage':
      return <Usage slug={slug} />;
    case 'requests':
      return <Requests slug={slug} />;
    case 'keys':
      return <Keys slug={slug} />;
  }
}
