import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from 'express';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { HEADER, type Clock, type LimitsView, type LimitStore, type Refusal } from '@sluice/contracts';
import type { CompiledConfig, CompiledKey } from '../compiled-config.ts';
import { createClientResponse } from '../http/client-response.ts';
import { dialectOf } from '../http/hot-routes.ts';
import { setRateHeaders } from '../http/rate-headers.ts';
import { sendRefusal } from '../http/refusal-response.ts';
import type { OtherRoutes } from '../http/server.ts';
import type { Log } from '../log.ts';
import { authenticateRequest } from '../stages/authenticate/authenticate.ts';
import { createPlacer, type PlaceDeps } from '../stages/place/place.ts';
import { rightPathFor } from '../http/right-path.ts';
import { createLookUps } from './look-ups.ts';
import { findListedModel, listModels } from './models.ts';
import type { SpendSource } from './spend.ts';
import { keyInfoBody, usageBody } from './usage.ts';

export interface AppDeps extends PlaceDeps {
  readonly currentConfig: () => CompiledConfig | undefined;
  readonly limits: Pick<LimitStore, 'view'>;
  readonly spend: Pick<SpendSource, 'of'>;
  readonly clock: Clock;
  readonly ids: { requestId(): string };
  readonly logger: Log;
}

interface Known {
  readonly config: CompiledConfig;
  readonly key: CompiledKey;
}

interface Caller extends Known {
  readonly view: LimitsView;
}

const MODEL_ROUTES = /^\/v1\/(models|usage|key\/info)(\/|$)/;

/** Everything but the model calls: lists, a key's own limits, liveness, and the 404 of routes that are not offered. */
export function createApp(deps: AppDeps): Express {
  const { clock, ids, logger } = deps;
  const place = createPlacer(deps);
  const lookUps = createLookUps({ clock });
  const callers = new WeakMap<Request, Caller>();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');

  app.use((_request, response, next) => {
    response.setHeader('x-content-type-options', 'nosniff');
    next();
  });

  app.get('/health', (_request, response) => {
    response.json({ status: 'ok' });
  });

  // How clients find out whether anybody is there.
  app.head('/', (_request, response) => {
    response.end();
  });

  app.use(async (request, response, next) => {
    const id = ids.requestId();
    response.locals.requestId = id;
    response.setHeader(HEADER.requestId, id);
    if (dialectOf(request.path, request.headers) === 'anthropic') response.setHeader(HEADER.anthropicRequestId, id);
    const caller = identify(request);
    if ('code' in caller) {
      refuse(request, response, caller);
      return;
    }
    const throttled = lookUps.take(caller.key.record.keyId);
    const view = await deps.limits.view(caller.key.scope);
    setRateHeaders(
      { setHeader: (name, value) => response.setHeader(name, value) },
      view,
      dialectOf(request.path, request.headers),
      clock.now(),
    );
    if (throttled !== undefined) {
      refuse(request, response, throttled);
      return;
    }
    callers.set(request, { ...caller, view });
    next();
  });

  app.get('/v1/models', (request, response) => {
    const { config, key } = callerOf(request);
    const list = listModels(config, key, dialectOf(request.path, request.headers), clock.now(), request.query);
    if ('code' in list) refuse(request, response, list);
    else response.json(list);
  });

  app.get('/v1/models/*id', (request, response) => {
    const { config, key } = callerOf(request);
    const id = ([] as string[]).concat(request.params.id as unknown as string[]).join('/');
    const model = findListedModel(config, key, id, dialectOf(request.path, request.headers), clock.now());
    if (model === undefined) refuse(request, response, { code: 'model_not_found', param: 'model' });
    else response.json(model);
  });

  app.get('/v1/key/info', async (request, response) => {
    const { key, view } = callerOf(request);
    response.json(keyInfoBody(key, view, await deps.spend.of(key.record.keyId)));
  });

  app.get('/v1/usage', async (request, response) => {
    const { key, view } = callerOf(request);
    response.json(usageBody(key, view, await deps.spend.of(key.record.keyId)));
  });

  app.use((request, response) => {
    if (request.method !== 'GET' && MODEL_ROUTES.test(request.path)) {
      response.setHeader('allow', 'GET');
      refuse(request, response, {
        code: 'method_not_allowed',
        message: `This route accepts GET, not ${request.method}.`,
      });
      return;
    }
    const message = rightPathFor(request.path);
    refuse(request, response, message === undefined ? { code: 'route_unknown' } : { code: 'route_unknown', message });
  });

  const onError: ErrorRequestHandler = (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (error instanceof URIError && !response.headersSent) {
      refuse(request, response, {
        code: 'bad_request',
        message: "The path holds a '%' that does not begin an encoded character; write it as %25.",
      });
      return;
    }
    logger.error(
      {
        reason: error instanceof Error ? (error.stack ?? error.message) : 'unknown',
        request_id: String(response.locals.requestId),
      },
      'a route failed',
    );
    if (response.headersSent) response.destroy();
    else refuse(request, response, { code: 'internal' });
  };
  app.use(onError);
  return app;

  function identify(request: Request): Known | Refusal {
    const config = deps.currentConfig();
    if (config === undefined) return { code: 'not_ready', retryAfterMs: 2_000 };
    const key = authenticateRequest(config, request, clock.now());
    if ('code' in key) return key;
    return place(config, key, request.headers.host) ?? { config, key };
  }

  function callerOf(request: Request): Caller {
    const caller = callers.get(request);
    if (caller === undefined) throw new Error('a route ran before its caller was known');
    return caller;
  }

  function refuse(request: Request, response: Response, refusal: Refusal): void {
    const dialect = dialectOf(request.path, request.headers);
    void sendRefusal(
      createClientResponse(response, request, { dialect }),
      refusal,
      dialect,
      String(response.locals.requestId),
    );
  }
}

/** The application as a handler of plain `node:http` requests. */
export function asOtherRoutes(app: Express): OtherRoutes {
  return (request: IncomingMessage, response: ServerResponse) => {
    app(request, response);
  };
}
