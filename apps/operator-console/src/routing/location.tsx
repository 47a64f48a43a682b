import { useSyncExternalStore, type MouseEvent, type ReactNode } from 'react';

export const BASE = '/_console';

/** Pages that are one, named as in the address. */
const SINGLE = ['chaos', 'router', 'tenants', 'providers', 'plans', 'models', 'kill-switches', 'people'] as const;
/** Pages of one thing, by the first part of the address. */
const OF_ONE = { tenants: 'tenant', providers: 'provider', plans: 'plan', models: 'model' } as const;

/** A page of the console. */
export type Place =
  | { readonly page: 'overview' | (typeof SINGLE)[number] }
  | { readonly page: 'requests'; readonly tenant?: string | undefined; readonly outcome?: string | undefined }
  | { readonly page: 'request' | (typeof OF_ONE)[keyof typeof OF_ONE]; readonly id: string }
  | { readonly page: 'unknown' };

/** The page of a path below the base. */
export function placeOf(path: string, search = ''): Place {
  const [name = '', id, ...more] = path
    .slice(path.startsWith(BASE) ? BASE.length : 0)
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  if (more.length > 0) return { page: 'unknown' };
  const query = new URLSearchParams(search);
  if (name === '') return { page: 'overview' };
  const single = SINGLE.find((page) => page === name);
  if (id === undefined && single !== undefined) return { page: single };
  if (name === 'requests')
    return id === undefined
      ? { page: 'requests', tenant: query.get('tenant') ?? undefined, outcome: query.get('outcome') ?? undefined }
      : { page: 'request', id };
  if (id !== undefined && Object.hasOwn(OF_ONE, name)) return { page: OF_ONE[name as keyof typeof OF_ONE], id };
  return { page: 'unknown' };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const MOVED = 'sluice:moved';

/** Goes to a path below the base. */
export function go(path: string): void {
  history.pushState(null, '', `${BASE}${path}`);
  window.dispatchEvent(new Event(MOVED));
  window.scrollTo(0, 0);
}

function subscribe(changed: () => void): () => void {
  window.addEventListener('popstate', changed);
  window.addEventListener(MOVED, changed);
  return () => {
    window.removeEventListener('popstate', changed);
    window.removeEventListener(MOVED, changed);
  };
}

export function usePlace(): Place {
  const url = useSyncExternalStore(subscribe, () => `${location.pathname}${location.search}`);
  const [path = '', search] = url.split('?');
  return placeOf(path, search);
}

/** A link within the console; opens in a new tab when asked, as links do. */
export function Link({
  to,
  current = false,
  className,
  children,
}: {
  to: string;
  current?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={`${BASE}${to}`} onClick={follow} className={className} aria-current={current ? 'page' : undefined}>
      {children}
    </a>
  );
}
