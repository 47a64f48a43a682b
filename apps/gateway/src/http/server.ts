import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { HEADER, type Clock, type Dialect, type ErrorCode, type Refusal } from '@sluice/contracts';
import type { Call } from '../call.ts';
import { createCancelToken } from '../cancel-token.ts';
import type { CompiledConfig } from '../compiled-config.ts';
import { runPipeline } from '../pipeline.ts';
import type { Stage, StageName } from '../stage.ts';
import { createCallsInFlight } from './calls-in-flight.ts';
import { answerWireError, type WireError } from './client-error.ts';
import { createClientResponse, type ClientResponse } from './client-response.ts';
import { createConnectionBound } from './connection-bound.ts';
import { createCors } from './cors.ts';
import { callerTimeoutMs, createCall } from './envelope.ts';
import type { Heartbeats } from './heartbeats.ts';
import { hotRouteOf, pathOf, toOriginForm, type HotRoute } from './hot-routes.ts';
import { sendRefusal } from './refusal-response.ts';

/** Serves what no hot route serves (the Express application). */
export type OtherRoutes = (request: IncomingMessage, response: ServerResponse) => void;

export interface GatewayServerDeps {
  readonly pipeline: readonly Stage[];
  readonly otherRoutes: OtherRoutes;
  /** The configuration in force; undefined refuses with `not_ready`. */
  readonly currentConfig: () => CompiledConfig | undefined;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly ids: { requestId(): string };
  /** A child of the caller's trace, or a new one. */
  readonly childTrace: (header: string | undefined) => string;
  readonly corsOrigins: readonly string[];
  readonly onFault: (error: unknown, call: Call, stage: StageName) => void;
  /** A request that was refused before it was a call. */
  readonly onEarlyRefusal?: (code: ErrorCode) => void;
  /** A connection was cut because its network has as many as it may. */
  readonly onRefusedConnection?: () => void;
  readonly limits?: Partial<ServerLimits>;
}

export interface ServerLimits {
  readonly headersTimeoutMs: number;
  /** For a whole request with its body. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  /** Of which one network may have so many. */
  readonly connectionsPerNetwork: number;
}

const LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 75_000,
  maxConnections: 20_000,
  connectionsPerNetwork: 10_000,
};
const MAX_HEADER_BYTES = 32 * 1024;
/** After cancelled calls were told, this long for them to settle. */
const CANCEL_GRACE_MS = 2_000;

export interface GatewayServer {
  listen(port: number, host: string): Promise<{ readonly url: string; readonly port: number }>;
  /** Calls that run now. */
  readonly inFlight: number;
  readonly draining: boolean;
  /**
   * Lets running calls end for `waitMs`, then cancels them. New connections are taken for `noticeMs` at least, and
   * told that it drains: one that was on its way when the listener closes would be reset, and its caller could not
   * know whether it was served.
   */
  drain(waitMs: number, noticeMs?: number): Promise<void>;
}

/** The public server. Hot routes run the pipeline directly on `node:http`; everything else goes to `otherRoutes`. */
export function createGatewayServer(deps: GatewayServerDeps): GatewayServer {
  const { pipeline, clock, ids, heartbeats } = deps;
  const limits = { ...LIMITS, ...deps.limits };
  const cors = createCors(deps.corsOrigins);
  const calls = createCallsInFlight();
  const busySockets = new WeakMap<Socket, number>();
  const brokenSockets = new WeakSet<Socket>();
  let draining = false;

  const server: Server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
      noDelay: true,
    },
    handle,
  );
  server.maxConnections = limits.maxConnections;
  const bound = createConnectionBound(limits.connectionsPerNetwork, () => deps.onRefusedConnection?.());
  server.on('connection', (socket) => void bound.admit(socket));
  server.on('clientError', (error: WireError, socket: Socket) => {
    if (brokenSockets.has(socket)) return;
    brokenSockets.add(socket);
    deps.onEarlyRefusal?.('bad_request');
    answerWireError(error, socket, ids.requestId(), (busySockets.get(socket) ?? 0) > 0);
  });

  function handle(request: IncomingMessage, res: ServerResponse): void {
    toOriginForm(request);
    if (request.method === 'OPTIONS' && cors.preflight(request, res)) return;
    const route = hotRouteOf(pathOf(request.url ?? '/'));
    if (route === undefined) {
      for (const [name, value] of cors.headersFor(request)) res.setHeader(name, value);
      if (draining) res.setHeader('connection', 'close');
      deps.otherRoutes(request, res);
      return;
    }
    const id = ids.requestId();
    const response = createClientResponse(res, request, { dialect: route.dialect, heartbeats });
    response.setHeader(HEADER.requestId, id);
    if (route.dialect === 'anthropic') response.setHeader(HEADER.anthropicRequestId, id);
    for (const [name, value] of cors.headersFor(request)) response.setHeader(name, value);
    if (draining) response.setHeader('connection', 'close');

    const config = deps.currentConfig();
    const refusal = refuseAtTheDoor(request, route, config);
    if (config === undefined || refusal !== undefined)
      refuse(response, refusal ?? { code: 'not_ready' }, route.dialect, id);
    else runCall(request, res, response, route, config, id);
  }

  function refuseAtTheDoor(
    request: IncomingMessage,
    route: HotRoute,
    config: CompiledConfig | undefined,
  ): Refusal | undefined {
    if (request.method !== 'POST' && route.kind === 'call')
      return { code: 'method_not_allowed', message: `This route accepts POST, not ${request.method}.` };
    if (draining) return { code: 'draining', retryAfterMs: 1_000 };
    return config === undefined ? { code: 'not_ready', retryAfterMs: 2_000 } : undefined;
  }

  function refuse(response: ClientResponse, refusal: Refusal, dialect: Dialect, id: string): void {
    if (refusal.code === 'method_not_allowed') response.setHeader('allow', 'POST');
    deps.onEarlyRefusal?.(refusal.code);
    void sendRefusal(response, refusal, dialect, id);
  }

  function runCall(
    request: IncomingMessage,
    res: ServerResponse,
    response: ClientResponse,
    route: HotRoute,
    config: CompiledConfig,
    id: string,
  ): void {
    const timeout = callerTimeoutMs(request);
    const cancel = createCancelToken();
    const call = createCall({
      id,
      request,
      response,
      cancel,
      config,
      dialect: route.dialect,
      operation: route.kind === 'call' ? route.operation : 'chat',
      traceparent: deps.childTrace(header(request, 'traceparent')),
      clock,
    });
    const { socket } = request;
    const timer = typeof timeout === 'number' ? setTimeout(() => cancel.cancel('caller_deadline'), timeout) : undefined;
    calls.add(cancel);
    busySockets.set(socket, (busySockets.get(socket) ?? 0) + 1);
    res.on('close', () => {
      clearTimeout(timer);
      busySockets.set(socket, (busySockets.get(socket) ?? 1) - 1);
      if (!res.writableFinished) cancel.cancel('client_closed');
    });
    const ended = (): void => {
      clearTimeout(timer);
      calls.remove(cancel);
    };
    runPipeline(pipelineFor(route, timeout), call, deps.onFault).then(ended, (error: unknown) => {
      ended();
      deps.onFault(error, call, 'settle');
      response.destroy();
    });
  }

  /**
   * The pipeline, cut off after the key is known where there is something to refuse that only a known caller may
   * read.
   */
  function pipelineFor(route: HotRoute, timeout: number | undefined | Refusal): readonly Stage[] {
    if (typeof timeout === 'object') return cutOff(timeout);
    if (route.kind === 'not_offered')
      return cutOff({ code: 'route_unknown', message: `${route.name} is not offered by this gateway yet.` });
    return pipeline;
  }

  function cutOff(refusal: Refusal): readonly Stage[] {
    const placed = pipeline.findIndex((stage) => stage.name === 'place');
    return [...pipeline.slice(0, placed + 1), { name: 'read_body', run: () => refusal }, ...pipeline.slice(-1)];
  }

  return {
    get inFlight() {
      return calls.count;
    },
    get draining() {
      return draining;
    },
    listen(port, host) {
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const address = server.address() as AddressInfo;
          const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
          resolve({ url: `http://${name}:${address.port}`, port: address.port });
        });
      });
    },
    async drain(waitMs, noticeMs = 0) {
      draining = true;
      const notice = new Promise<void>((resolve) => setTimeout(resolve, noticeMs));
      if (!(await calls.drained(waitMs))) {
        calls.cancelAll('draining');
        await calls.drained(CANCEL_GRACE_MS);
      }
      await notice;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      heartbeats.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
