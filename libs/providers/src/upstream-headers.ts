import { HEADER, type InboundCall, type UpstreamTarget } from '@sluice/contracts';

/**
 * Headers of every upstream request. Only what is named here travels: nothing of the caller's own headers but those
 * that the inbound call lists, so its key and its copy of the tenant marker stay behind.
 */
export function upstreamHeaders(call: InboundCall, target: UpstreamTarget, auth: readonly string[]): string[] {
  const headers = [
    'content-type',
    'application/json',
    'accept',
    call.stream ? 'text/event-stream' : 'application/json',
    'accept-encoding',
    'identity',
    HEADER.tenantMarker,
    target.tenantMarker,
    ...auth,
  ];
  for (const [name, value] of Object.entries(target.extraHeaders)) if (mayAdd(name, auth)) headers.push(name, value);
  for (const [name, value] of Object.entries(call.forwardHeaders)) headers.push(name, value);
  return headers;
}

/**
 * Names that a provider's own extra headers may not repeat: what marks the tenant, describes the body or frames the
 * message.
 */
const OURS: ReadonlySet<string> = new Set([
  HEADER.tenantMarker,
  'content-type',
  'content-length',
  'accept',
  'accept-encoding',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'upgrade',
  'expect',
]);

function mayAdd(name: string, auth: readonly string[]): boolean {
  const lower = name.toLowerCase();
  return !OURS.has(lower) && !auth.includes(lower);
}

/** Origin and path of an endpoint below a base URL, which may have a path of its own. */
export function endpoint(baseUrl: string, path: string): { readonly origin: string; readonly path: string } {
  const known = parsed.get(baseUrl);
  if (known !== undefined) return { origin: known.origin, path: known.prefix + path };
  const url = new URL(baseUrl);
  const entry = { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(baseUrl, entry);
  return { origin: entry.origin, path: entry.prefix + path };
}

const MAX_PARSED = 1_000;
const parsed = new Map<string, { readonly origin: string; readonly prefix: string }>();
