import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { SimFault } from '@sluice/contracts';
import { parseObject, readBody } from './request-body.ts';
import { Refusal } from './sim-call.ts';
import type { Provider } from './start-provider.ts';

const ROUTE = /^\/providers\/([^/]+)\/(fault|stats|calls)$/;

/** The fault controls: an HTTP server, not yet listening. */
export function createControlServer(providers: readonly Provider[]) {
  return createServer((req, res) => {
    readBody(req, (raw) => {
      handle(req, res, raw).catch((error: unknown) => {
        const status = error instanceof Refusal ? error.status : 500;
        send(res, status, { status, title: error instanceof Error ? error.message : 'Internal error' });
      });
    });
  });

  async function handle(req: IncomingMessage, res: ServerResponse, raw: Buffer | Refusal): Promise<void> {
    if (raw instanceof Refusal) throw raw;
    const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/health' && req.method === 'GET') {
      const listening = Object.fromEntries(providers.map((one) => [one.name, one.listening]));
      return send(res, providers.every((one) => one.listening) ? 200 : 503, { listening });
    }
    const [, name, what] = ROUTE.exec(path) ?? [];
    if (what === undefined)
      throw new Refusal(
        404,
        'Known: GET /health, and /providers/<name>/fault, /providers/<name>/stats and /providers/<name>/calls',
      );
    const provider = providers.find((one) => one.name === name);
    if (provider === undefined)
      throw new Refusal(404, `There is no such provider; known: ${providers.map((one) => one.name).join(', ')}`);
    switch (`${req.method} ${what}`) {
      case 'GET stats':
        return send(res, 200, provider.stats.snapshot());
      case 'GET calls':
        return send(res, 200, provider.stats.calls(readAfter(req.url ?? '/')));
      case 'DELETE stats':
        provider.stats.reset();
        return send(res, 204);
      case 'GET fault':
        return send(res, 200, { fault: provider.faults.current ?? null });
      case 'POST fault': {
        const fault = parseFault(raw);
        provider.faults.set(fault);
        await provider.settled();
        return send(res, 200, { fault });
      }
      case 'DELETE fault':
        provider.faults.clear();
        await provider.settled();
        return send(res, 204);
      default:
        throw new Refusal(405, `${req.method} is not possible here`);
    }
  }
}

function readAfter(url: string): number {
  const text = new URLSearchParams(url.split('?')[1] ?? '').get('after') ?? '0';
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(400, 'after must be the number of a call, a whole number from 0');
  return Number(text);
}

function parseFault(raw: Buffer): SimFault {
  const parsed = SimFault.safeParse(parseObject(raw));
  if (parsed.success) return parsed.data;
  throw new Refusal(
    400,
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'fault'}: ${issue.message}`).join('; '),
  );
}

function send(res: ServerResponse, status: number, body?: object): void {
  if (body === undefined) {
    res.writeHead(status, { 'x-content-type-options': 'nosniff' }).end();
    return;
  }
  res.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  res.end(JSON.stringify(body));
}
