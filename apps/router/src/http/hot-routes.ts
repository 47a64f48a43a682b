import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { HEADER, type Problem } from '@sluice/contracts';
import type { Ids, Logger, PartyRates } from '@sluice/service-kit';
import type { Caller, FindCaller } from './caller.ts';
import { isProblem, tooMuch, type ProblemReply, type Reply } from './reply.ts';

/** Answers a parsed JSON body. */
export type HotHandler = (body: unknown, caller: Caller) => Reply<unknown> | Promise<Reply<unknown>>;

/** Bytes of a body at most. */
const MAX_BODY = 4 * 1024 * 1024;

/**
 * Serves the routes that are asked for every call without a framework, and gives all others to `rest`.
 *
 * @param routes path of a POST → its handler.
 */
export function createHotRoutes({
  routes,
  findCaller,
  shares,
  ids,
  logger,
  rest,
}: {
  routes: Readonly<Record<string, HotHandler>>;
  findCaller: FindCaller;
  /** Of each tenant. */
  shares: Pick<PartyRates, 'waitMs'>;
  ids: Ids;
  logger: Pick<Logger, 'error'>;
  rest: RequestListener;
}): RequestListener {
  const handlers = new Map(Object.entries(routes));

  async function serve(req: IncomingMessage, res: ServerResponse, handler: HotHandler): Promise<void> {
    const requestId = ids.requestId();
    const caller = findCaller(req.headers);
    if (caller === undefined) {
      res.setHeader('www-authenticate', 'Bearer');
      return problem(res, requestId, { status: 401, title: 'A service token or an API key is required' });
    }
    // A customer over its share costs no body.
    const waitMs = caller.kind === 'key' ? shares.waitMs(caller.key.workspace.tenant) : 0;
    if (waitMs > 0) {
      req.resume();
      return problem(res, requestId, tooMuch(waitMs));
    }
    const text = await readBody(req);
    if (text === undefined)
      return problem(res, requestId, {
        status: 413,
        title: 'The request body is too large',
        detail: `At most ${MAX_BODY} bytes.`,
      });
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return problem(res, requestId, { status: 400, title: 'The request body is not valid JSON' });
    }
    const reply = await handler(body, caller);
    if (isProblem(reply)) return problem(res, requestId, reply);
    send(res, requestId, reply.status, 'application/json', JSON.stringify(reply.body));
  }

  return (req, res) => {
    const handler = req.method === 'POST' ? handlers.get(req.url ?? '') : undefined;
    if (handler === undefined) return rest(req, res);
    serve(req, res, handler).catch((error: unknown) => {
      const requestId = ids.requestId();
      logger.error({ err: error, request_id: requestId, path: req.url }, 'request failed');
      if (res.headersSent || res.destroyed) return void res.destroy();
      const away = (error as { code?: unknown } | null)?.code === 'ECONNRESET' && req.destroyed;
      if (!away)
        problem(res, requestId, {
          status: 503,
          title: 'The router cannot store this now',
          detail: 'Nothing was changed, or it is found as taken when it is sent again. Try again in a few seconds.',
        });
    });
  };
}

function readBody(req: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY) chunks.push(chunk);
    });
    req.on('end', () =>
      resolve(
        size > MAX_BODY
          ? undefined
          : chunks.length === 1
            ? (chunks[0] as Buffer).toString()
            : Buffer.concat(chunks).toString(),
      ),
    );
    req.on('error', reject);
  });
}

function problem(
  res: ServerResponse,
  requestId: string,
  { status, title, detail, errors, retryAfterS }: Omit<ProblemReply, 'status'> & { readonly status: number },
): void {
  const body: Problem = {
    type: 'about:blank',
    title,
    status,
    ...(detail === undefined ? {} : { detail }),
    request_id: requestId,
    ...(errors === undefined ? {} : { errors: [...errors] }),
  };
  if (status === 503) res.setHeader('retry-after', '2');
  if (retryAfterS !== undefined) res.setHeader('retry-after', String(retryAfterS));
  send(res, requestId, status, 'application/problem+json', JSON.stringify(body));
}

function send(res: ServerResponse, requestId: string, status: number, type: string, text: string): void {
  res.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    [HEADER.requestId]: requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  res.end(text);
}
