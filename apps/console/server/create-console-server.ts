import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createAssets } from './assets.ts';
import { proxyTo } from './proxy.ts';

export interface ConsoleServerOptions {
  /** Folder that Vite built. */
  dist: string;
  bffUrl: string;
  /** `Host` headers to answer besides the loopback names with the socket's own port. */
  extraHosts?: readonly string[];
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const NOT_BUILT =
  'The console is not built yet. Run `npm run build --workspace @sluice/console` and reload this page.\n';

/** Serves the built console and passes `/api` on to its backend. It does not listen. */
export function createConsoleServer({ dist, bffUrl, extraHosts = [] }: ConsoleServerOptions): Server {
  const assets = createAssets(dist);

  async function serveFile(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    if (req.method !== 'GET' && req.method !== 'HEAD') return text(res, 405, 'Only GET is answered here.\n');
    if (path === '/health') return text(res, 200, 'ok\n');
    const files = await assets();
    if (files === undefined) return text(res, 503, NOT_BUILT);
    const isPage = !path.slice(path.lastIndexOf('/')).includes('.');
    const name = isPage ? '/index.html' : path;
    const asset = files.get(name);
    if (asset === undefined) return text(res, 404, 'Not found.\n');
    res.writeHead(200, {
      ...HEADERS,
      'content-type': asset.type,
      'content-length': asset.bytes.length,
      'cache-control': name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
    res.end(req.method === 'HEAD' ? undefined : asset.bytes);
  }

  return createServer((req, res) => {
    if (!hostAllowed(req, extraHosts)) return text(res, 421, 'This host name is not served here.\n');
    const path = readPath(req.url);
    if (path === undefined) return text(res, 400, 'This path is not understood.\n');
    if (path === '/api' || path.startsWith('/api/')) return proxyTo(bffUrl, req, res);
    serveFile(req, res, path).catch(() => (res.headersSent ? res.destroy() : text(res, 500, 'Internal error.\n')));
  });
}

function hostAllowed(req: IncomingMessage, extraHosts: readonly string[]): boolean {
  const host = (req.headers.host ?? '').toLowerCase();
  const port = req.socket.localPort;
  return host === `127.0.0.1:${port}` || host === `localhost:${port}` || extraHosts.includes(host);
}

/** The decoded path; undefined when it is malformed or climbs. */
function readPath(url: string | undefined): string | undefined {
  try {
    const path = decodeURIComponent((url ?? '/').split(/[?#]/, 1)[0] ?? '/');
    const climbs = path.split(/[/\\]/).includes('..') || path.includes('\0');
    return path.startsWith('/') && !climbs ? path : undefined;
  } catch {
    return undefined;
  }
}

function text(res: ServerResponse, status: number, message: string): void {
  res.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  res.end(message);
}
