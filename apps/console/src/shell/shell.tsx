import { Component, Suspense, useState, type ReactNode } from 'react';
import type { Permission, SessionView } from '@sluice/contracts';
import { navigate, urlOf, usePlace } from '../routing/location.ts';
import { Link } from '../routing/link.tsx';
import { Loading } from '../parts/load-state.tsx';
import { maySee, PAGES, type ConsolePage } from './pages.ts';
import { NoSuchPlace, NotYourRole } from './no-access.tsx';

const GROUPS = [
  { id: 'watch', title: 'Watch' },
  { id: 'build', title: 'Build' },
  { id: 'manage', title: 'Manage' },
] as const;

/** The frame of every page: workspace switch, the pages that the role includes, who is signed in. */
export function Shell({ session, onSignOut }: { session: SessionView; onSignOut: () => void }) {
  const place = usePlace();
  const slugs = Object.keys(session.roles).sort();
  const slug = place.workspace ?? slugs[0];
  const known = slug !== undefined && slug in session.roles;
  const permissions = known ? (session.permissions[slug] ?? []) : [];
  const pageId = place.page ?? 'overview';
  const page: ConsolePage | undefined = PAGES.find(({ id }) => id === pageId);
  const [menuOpen, setMenuOpen] = useState(false);

  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="side">
        <div className="brand-row">
          <span className="brand">
            <Mark /> Sluice
          </span>
          <button
            type="button"
            className="menu-button"
            aria-expanded={menuOpen}
            aria-controls="menu"
            onClick={() => setMenuOpen(!menuOpen)}
          >
            Menu
          </button>
        </div>
        <div id="menu" className={menuOpen ? 'menu open' : 'menu'}>
          <WorkspaceSwitch slugs={slugs} slug={known ? slug : undefined} pageId={pageId} />
          {known && <Menu slug={slug} pageId={pageId} permissions={permissions} onChosen={() => setMenuOpen(false)} />}
          <div className="who">
            <p title={session.email}>
              {known ? (
                <Link to={urlOf(slug, 'account')} aria-label={`${session.email}: your account`}>
                  {session.email}
                </Link>
              ) : (
                session.email
              )}
            </p>
            {known && (
              <p className="muted">
                {session.roles[slug]} of {slug}
              </p>
            )}
            <button type="button" onClick={onSignOut}>
              Sign out
            </button>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {slugs.length === 0 && (
          <p className="notice">You do not belong to any workspace yet. Ask an admin of your company to add you.</p>
        )}
        {slugs.length > 0 && !known && <NoSuchPlace what="workspace" home={slugs[0] && urlOf(slugs[0], 'overview')} />}
        {known && page === undefined && <NoSuchPlace what="page" home={urlOf(slug, 'overview')} />}
        {known && page !== undefined && (
          <PageFrame key={`${slug}/${pageId}`}>
            {page.permission === undefined || maySee(page, permissions) ? (
              <page.component slug={slug} permissions={permissions} item={place.item} />
            ) : (
              <NotYourRole title={page.title} permission={page.permission} role={session.roles[slug] ?? 'nobody'} />
            )}
          </PageFrame>
        )}
      </main>
    </div>
  );
}

function Menu({
  slug,
  pageId,
  permissions,
  onChosen,
}: {
  slug: string;
  pageId: string;
  permissions: readonly Permission[];
  onChosen: () => void;
}) {
  return (
    <nav aria-label="Pages">
      {GROUPS.map((group) => {
        const pages = PAGES.filter((page) => page.group === group.id && maySee(page, permissions));
        if (pages.length === 0) return null;
        return (
          <div key={group.id}>
            <h2 className="menu-group">{group.title}</h2>
            <ul>
              {pages.map(({ id, title }) => (
                <li key={id}>
                  <Link to={urlOf(slug, id)} aria-current={id === pageId ? 'page' : undefined} onClick={onChosen}>
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/** A choice only for people who have one. */
function WorkspaceSwitch({
  slugs,
  slug,
  pageId,
}: {
  slugs: readonly string[];
  slug: string | undefined;
  pageId: string;
}) {
  if (slugs.length === 0) return null;
  if (slugs.length === 1 && slug !== undefined) {
    return (
      <p className="workspace-name">
        <span className="muted">Workspace</span>
        <strong>{slug}</strong>
      </p>
    );
  }
  return (
    <label className="workspace-name">
      <span className="muted">Workspace</span>
      <select value={slug ?? ''} onChange={(event) => navigate(urlOf(event.target.value, pageId))}>
        {slug === undefined && (
          <option value="" disabled>
            choose one
          </option>
        )}
        {slugs.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** A page that breaks, or whose code cannot be loaded, leaves the frame standing. */
class PageFrame extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    if (!this.state.broken) return <Suspense fallback={<Loading rows={6} />}>{this.props.children}</Suspense>;
    return (
      <div className="notice bad failure" role="alert">
        <div>
          <strong>This page could not be shown.</strong> The console may have been updated since you opened it.
        </div>
        <button type="button" onClick={() => window.location.reload()}>
          Reload
        </button>
      </div>
    );
  }
}

function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" className="mark">
      <rect x="1" y="1" width="18" height="18" rx="5" />
      <path d="M5 7h7M5 10h10M5 13h5" />
    </svg>
  );
}
