import type { IncomingMessage } from 'node:http';
import type { Dialect, Operation } from '@sluice/contracts';

export type HotRoute =
  | { readonly kind: 'call'; readonly operation: Operation; readonly dialect: Dialect }
  /** Known, but not served yet; the answer says so. */
  | { readonly kind: 'not_offered'; readonly dialect: Dialect; readonly name: string };

const CHAT: HotRoute = { kind: 'call', operation: 'chat', dialect: 'openai' };
const EMBEDDINGS: HotRoute = { kind: 'call', operation: 'embeddings', dialect: 'openai' };
const MESSAGES: HotRoute = { kind: 'call', operation: 'messages', dialect: 'anthropic' };
const COUNT_TOKENS: HotRoute = { kind: 'call', operation: 'count_tokens', dialect: 'anthropic' };

/** The routes that models are called through, by path without query. */
const HOT: Readonly<Record<string, HotRoute>> = Object.assign(Object.create(null) as Record<string, HotRoute>, {
  '/v1/chat/completions': CHAT,
  '/v1/embeddings': EMBEDDINGS,
  '/v1/messages': MESSAGES,
  '/v1/messages/count_tokens': COUNT_TOKENS,
  '/v1/responses': { kind: 'not_offered', dialect: 'openai', name: 'The Responses API' },
  '/v1/files': { kind: 'not_offered', dialect: 'openai', name: 'The Files API' },
  '/v1/batches': { kind: 'not_offered', dialect: 'openai', name: 'The Batches API' },
  '/v1/messages/batches': { kind: 'not_offered', dialect: 'anthropic', name: 'The Message Batches API' },
});

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/**
 * Turns the target of a request that names the whole address (`POST http://host/v1/…`) into its path. Its host is
 * the one that counts (RFC 9112, 3.2.2).
 */
export function toOriginForm(request: Pick<IncomingMessage, 'url' | 'headers'>): void {
  if (request.url === undefined || request.url.startsWith('/')) return;
  const absolute = ABSOLUTE.exec(request.url);
  if (absolute === null) return;
  const [, host = '', target = ''] = absolute;
  request.headers.host = host;
  request.url = target.startsWith('/') ? target : `/${target}`;
}

/** Path of a request target, without its query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** The hot route of a path; undefined for everything that Express serves. */
export function hotRouteOf(path: string): HotRoute | undefined {
  return HOT[path];
}

/** In which dialect a path is answered when something goes wrong before a route is known. */
export function dialectOfPath(path: string): Dialect {
  return path.startsWith('/v1/messages') ? 'anthropic' : 'openai';
}

/**
 * The dialect of a route that both kinds of client call: Anthropic's send a version, and their key in a header of
 * its own.
 */
export function dialectOf(path: string, headers: Readonly<Record<string, unknown>>): Dialect {
  return headers['anthropic-version'] === undefined && headers['x-api-key'] === undefined
    ? dialectOfPath(path)
    : 'anthropic';
}
