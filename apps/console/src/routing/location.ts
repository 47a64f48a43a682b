import { useSyncExternalStore } from 'react';

/** Where the person is: `/<workspace>/<page>/<item>?<search>`. */
export interface Place {
  readonly workspace: string | undefined;
  readonly page: string | undefined;
  /** A single thing of the page, such as a request id. */
  readonly item: string | undefined;
  readonly search: URLSearchParams;
}

const CHANGED = 'sluice:navigated';

function subscribe(onChange: () => void): () => void {
  window.addEventListener('popstate', onChange);
  window.addEventListener(CHANGED, onChange);
  return () => {
    window.removeEventListener('popstate', onChange);
    window.removeEventListener(CHANGED, onChange);
  };
}

const currentUrl = (): string => window.location.pathname + window.location.search;

/** Goes to an address of the console without loading the page anew. */
export function navigate(url: string, { replace = false }: { replace?: boolean } = {}): void {
  if (url === currentUrl()) return;
  window.history[replace ? 'replaceState' : 'pushState'](null, '', url);
  window.dispatchEvent(new Event(CHANGED));
}

/** @returns undefined parts where the address has none, or one that cannot be decoded. */
export function readPlace(url: string): Place {
  const [path = '', search = ''] = url.split('?', 2);
  const [workspace, page, item] = path.split('/').slice(1).map(decodePart);
  return { workspace, page, item, search: new URLSearchParams(search) };
}

function decodePart(part: string): string | undefined {
  try {
    return part === '' ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** The current place; draws again when it changes. */
export function usePlace(): Place {
  return readPlace(useSyncExternalStore(subscribe, currentUrl));
}

export function urlOf(
  workspace: string,
  page: string,
  item?: string,
  search?: Readonly<Record<string, string | undefined>>,
): string {
  const path = [workspace, page, ...(item === undefined ? [] : [item])].map(encodeURIComponent).join('/');
  const given = Object.entries(search ?? {}).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  const query = new URLSearchParams(given).toString();
  return `/${path}${query === '' ? '' : `?${query}`}`;
}

/** Changes single values of the address's search in place; undefined or empty takes one out. */
export function setSearch(changes: Readonly<Record<string, string | undefined>>): void {
  const search = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') search.delete(name);
    else search.set(name, value);
  }
  const query = search.toString();
  navigate(`${window.location.pathname}${query === '' ? '' : `?${query}`}`, { replace: true });
}
