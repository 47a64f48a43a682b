import { connect } from 'node:net';
import { systemClock, type AdmissionLease, type LimitsView, type LimitStore } from '@sluice/contracts';
import { createFakeClock, type FakeClock } from '@sluice/testing';
import { createBodyPool } from '../bodies/body-pool.ts';
import type { Call } from '../call.ts';
import type { CompiledConfig } from '../compiled-config.ts';
import { createHeartbeats } from '../http/heartbeats.ts';
import { setRateHeaders } from '../http/rate-headers.ts';
import { sendRefusal } from '../http/refusal-response.ts';
import { createGatewayServer, type GatewayServer, type ServerLimits } from '../http/server.ts';
import { pipelineOf } from '../pipeline.ts';
import { asOtherRoutes, createApp } from '../routes/app.ts';
import type { Stage, StageName } from '../stage.ts';
import { createAuthenticateStage } from '../stages/authenticate/authenticate.ts';
import { createCacheStage } from '../stages/cache/cache.ts';
import { createIdempotencyStage } from '../stages/idempotency/idempotency.ts';
import { createPlaceStage } from '../stages/place/place.ts';
import { createReadBodyStage } from '../stages/read-body/read-body.ts';
import { createAdapterRegistry } from '@sluice/providers';
import { createPlanner } from '../planning/planner.ts';
import { createResolveStage } from '../stages/resolve/resolve.ts';
import { compiledSample } from './compiled-sample.ts';
import { inlineWorker } from './inline-worker.ts';
import { createSilentLog } from './silent-log.ts';

export const SAMPLE_NOW_MS = Date.parse('2026-06-01T12:00:00.000Z');

export const SAMPLE_VIEW: LimitsView = {
  requests: { limit: 100, remaining: 99, resetMs: 17 },
  tokens: undefined,
  quotas: [],
  inFlight: 1,
  queued: 0,
};

export interface FrontServer {
  readonly url: string;
  readonly port: number;
  readonly server: GatewayServer;
  readonly faults: unknown[];
  /** Calls that reached admission. */
  readonly admitted: Call[];
  /** How each call ended, in order: refusal code, or `ok`. */
  readonly ended: string[];
  /** Faults that routes logged. */
  readonly logged: unknown[];
  close(): Promise<void>;
}

export interface FrontServerOptions {
  readonly config?: () => CompiledConfig | undefined;
  readonly corsOrigins?: readonly string[];
  readonly silenceMs?: number;
  readonly limits?: Partial<ServerLimits>;
  /** What the routes beside the model calls ask; admits everybody unless given. */
  readonly clock?: FakeClock;
  readonly store?: Pick<LimitStore, 'view'>;
  /** What stands in for the provider. */
  readonly attempt?: (call: Call) => Promise<void>;
}

/** The real front half over a real socket; behind it, stages that admit everybody and answer `{"ok":true}`. */
export async function startFrontServer(options: FrontServerOptions = {}): Promise<FrontServer> {
  const clock = options.clock ?? createFakeClock(SAMPLE_NOW_MS);
  const logger = createSilentLog();
  const compiled = compiledSample();
  const currentConfig = options.config ?? (() => compiled);
  const place = { baseDomain: 'sluice.localhost', cellId: 'cell-shared-1' };
  const admitted: Call[] = [];
  const ended: string[] = [];
  const faults: unknown[] = [];
  let count = 0;
  const ids = { requestId: () => `req_${String((count += 1)).padStart(26, '0')}` };
  const stage = (name: StageName, run: Stage['run']): Stage => ({ name, run });

  const adapters = createAdapterRegistry().get;
  const bodies = createBodyPool({ clock: systemClock, spawn: inlineWorker });
  const pipeline = pipelineOf({
    authenticate: createAuthenticateStage({ clock }),
    place: createPlaceStage(place),
    read_body: createReadBodyStage({
      clock,
      adapters,
      bodies,
      lookAhead: () => undefined,
      ...(options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs }),
    }),
    resolve: createResolveStage({ clock, planner: createPlanner({ adapters }) }),
    idempotency: createIdempotencyStage(),
    cache: createCacheStage(),
    admit: stage('admit', (call) => {
      admitted.push(call);
      call.view = SAMPLE_VIEW;
      call.lease = {} as AdmissionLease;
      return undefined;
    }),
    route: stage('route', () => undefined),
    attempt: stage('attempt', async (call) => {
      await options.attempt?.(call);
      return undefined;
    }),
    relay: stage('relay', () => undefined),
    settle: stage('settle', async (call) => {
      ended.push(call.refusal?.code ?? 'ok');
      if (call.view !== undefined) setRateHeaders(call.response, call.view, call.dialect, clock.now());
      if (call.refusal !== undefined) {
        await sendRefusal(call.response, call.refusal, call.dialect, call.id);
        return undefined;
      }
      const body = Buffer.from('{"ok":true}');
      call.response.commit(200, { stream: false, contentType: 'application/json', contentLength: body.length });
      await call.response.finish(body);
      return undefined;
    }),
  });
  const app = createApp({
    ...place,
    currentConfig,
    limits: options.store ?? { view: () => SAMPLE_VIEW },
    spend: { of: async () => undefined },
    clock,
    ids,
    logger,
  });
  const server = createGatewayServer({
    pipeline,
    otherRoutes: asOtherRoutes(app),
    currentConfig,
    heartbeats: createHeartbeats(),
    clock,
    ids,
    childTrace: () => `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    corsOrigins: options.corsOrigins ?? [],
    onFault: (error) => faults.push(error),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const { url, port } = await server.listen(0, '127.0.0.1');
  const close = async (): Promise<void> => {
    await server.drain(0);
    bodies.close();
  };
  return { url, port, server, faults, admitted, ended, logged: logger.lines, close };
}

/** Sends raw bytes and gives back everything that came until the peer closed, or `quietMs` after the last byte. */
export function rawExchange(port: number, bytes: string | Buffer, quietMs = 300): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    let timer = setTimeout(done, 5_000);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(done, quietMs);
    });
    socket.on('error', done);
    socket.on('close', done);
    socket.write(bytes);
  });
}
