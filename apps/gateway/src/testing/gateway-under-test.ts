import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  systemClock,
  type CallSettled,
  type CallStarted,
  type EventOrigin,
  type LimitStore,
  type Refusal,
  type Settlement,
} from '@sluice/contracts';
import { openOutbox } from '@sluice/events';
import { createMemoryLimitStore } from '@sluice/limits';
import { createAdapterRegistry, createTransport } from '@sluice/providers';
import { createRetryBudget } from '@sluice/resilience';
import type { CompiledSnapshot } from '@sluice/routing';
import { createIds } from '@sluice/service-kit';
import { type BodyPoolOptions, createBodyPool, type MeasuredJob } from '../bodies/body-pool.ts';
import type { Call } from '../call.ts';
import { createHeartbeats } from '../http/heartbeats.ts';
import { createGatewayServer } from '../http/server.ts';
import { createEstimator } from '../metering/estimator.ts';
import { createLateRecords } from '../metering/late-records.ts';
import type { UnplacedSettled } from '../metering/usage-events.ts';
import { pipelineOf } from '../pipeline.ts';
import { createChooseModel } from '../router/choose-model.ts';
import { createAdmitStage } from '../stages/admit/admit.ts';
import { createRetrySlots } from '../stages/admit/retry-slots.ts';
import { createLookAhead } from '../refusals/look-ahead.ts';
import { createCountingAttemptStage } from '../stages/attempt/count-tokens.ts';
import type { AccountChange } from '../upstream/account-verdicts.ts';
import { createAuthenticateStage } from '../stages/authenticate/authenticate.ts';
import { createFindPerson } from '../stages/authenticate/person.ts';
import { createCacheStage } from '../stages/cache/cache.ts';
import { createIdempotencyStage } from '../stages/idempotency/idempotency.ts';
import { createPlaceStage } from '../stages/place/place.ts';
import { createBodyMemory, type BodyMemoryBounds } from '../stages/read-body/body-memory.ts';
import { createReadBodyStage } from '../stages/read-body/read-body.ts';
import { createRelayStage } from '../stages/relay/relay.ts';
import { createResolveStage } from '../stages/resolve/resolve.ts';
import { createPlanner } from '../planning/planner.ts';
import { createRouteStage } from '../stages/route/route.ts';
import type { CallEnd } from '../report/call-end.ts';
import { createSettleStage } from '../stages/settle/settle.ts';
import type { UnreadBounds } from '../stages/settle/unread-answers.ts';
import { createBreakers } from '../upstream/breakers.ts';
import { createCapacity } from '../upstream/capacity.ts';
import { nameOfSecret } from '../upstream/secrets.ts';
import { compiledSample } from './compiled-sample.ts';
import { inlineWorker } from './inline-worker.ts';
import { SAMPLE_KEYS, type RawSnapshot } from './sample-snapshot.ts';
import { createSilentLog } from './silent-log.ts';

/** Signs people who act in a workspace. */
export const SAMPLE_PRINCIPAL_KEY = 'principal-key-of-this-test';

export type Append = 'started' | 'settled';

export interface GatewayOptions {
  /**
   * Base URL of the provider `primary`; `second` is offered behind it where it is given. Both speak OpenAI's
   * dialect.
   */
  readonly primary: string;
  readonly second?: string;
  readonly change?: (raw: RawSnapshot) => void;
  /** Runs before a record is written; throwing makes the write fail. */
  readonly beforeAppend?: (what: Append) => void | Promise<void>;
  /** For the jitter of retries, 0 to 1; 0 unless given. */
  readonly random?: () => number;
  /** A secret of the configuration that is not there, as `env:NAME`. */
  readonly missingSecret?: string;
  readonly slowReaderMs?: number;
  readonly unread?: Partial<UnreadBounds>;
  /** What the router published last; nothing unless given. */
  readonly snapshot?: () => CompiledSnapshot | undefined;
  /** Uniform draws of decisions; the process's own unless given. */
  readonly draw?: () => number;
  readonly connectionsPerNetwork?: number;
  readonly bodyMemory?: Partial<BodyMemoryBounds>;
  readonly bodies?: Pick<BodyPoolOptions, 'threads' | 'limitMs' | 'spawn' | 'maxWaitMs'>;
  readonly wrapLimits?: (limits: LimitStore) => LimitStore;
}

export type GatewayUnderTest = Awaited<ReturnType<typeof startGateway>>;

/**
 * The gateway's own stages on a real socket, a real outbox in a folder of its own, and a scripted provider behind
 * it.
 */
export async function startGateway(options: GatewayOptions) {
  const clock = systemClock;
  const logger = createSilentLog();
  const dir = mkdtempSync(join(tmpdir(), 'sluice-gateway-'));
  const config = compiledSample((raw) => configure(raw, options), logger);
  const { outbox } = openOutbox({ dir, gatewayId: 'gw-1', clock, maxBytes: 1e8, segmentBytes: 1e7, maxAgeMs: 1e9 });
  const memory = createMemoryLimitStore({ clock });
  const limits = options.wrapLimits?.(memory) ?? memory;
  /** What happened, in order: appends, bytes of the client's end, settlements, reports. */
  const events: string[] = [];
  const started: CallStarted[] = [];
  const settled: Omit<CallSettled, 'gateway_id' | 'epoch' | 'sequence'>[] = [];
  const settlements: Settlement[] = [];
  const ends: (CallEnd & { readonly refusal: Refusal | undefined })[] = [];
  const calls: Call[] = [];
  /** Calls in order of arrival, as they are now. */
  const begun: Call[] = [];
  const faults: unknown[] = [];
  const accounts: AccountChange[] = [];
  const capacity = createCapacity({ clock });
  const breakers = createBreakers({ clock, onChange: () => undefined });
  const transport = createTransport();
  const heartbeats = createHeartbeats();
  const estimator = createEstimator();
  const adapters = createAdapterRegistry().get;
  const bodies = createBodyPool({ clock, spawn: inlineWorker, ...options.bodies, onJob: (job) => jobs.push(job) });
  const planner = createPlanner({ adapters });
  const ids = createIds({ clock });
  const decisionFaults: string[] = [];
  const jobs: MeasuredJob[] = [];
  const budget = createRetryBudget({ clock, minimumRetries: 100, tenantMinimum: 100 });
  const settledOutbox = {
    async appendSettled(event: UnplacedSettled): Promise<EventOrigin | undefined> {
      await options.beforeAppend?.('settled');
      const origin = await outbox.appendSettled(event);
      settled.push(event);
      events.push('settled');
      return origin;
    },
  };
  const late = createLateRecords({
    outbox: settledOutbox,
    limits,
    onCounted: () => undefined,
    onFault: (error) => faults.push(error),
  });
  const authenticate = createAuthenticateStage({
    clock,
    findPerson: createFindPerson({ principalKey: SAMPLE_PRINCIPAL_KEY, clock }),
  });
  const pipeline = pipelineOf({
    authenticate: {
      name: 'authenticate',
      run(call) {
        begun.push(call);
        return authenticate.run(call);
      },
    },
    place: createPlaceStage({ baseDomain: 'sluice.localhost', cellId: 'cell-shared-1' }),
    read_body: createReadBodyStage({
      clock,
      adapters,
      bodies,
      lookAhead: createLookAhead({ limits }),
      memory: createBodyMemory(options.bodyMemory),
    }),
    resolve: createResolveStage({ clock, planner }),
    idempotency: createIdempotencyStage(),
    cache: createCacheStage(),
    admit: createAdmitStage({ limits, estimator, outbox, retrySlots: createRetrySlots({ clock }) }),
    route: createRouteStage({
      clock,
      planner,
      decisionId: ids.ulid,
      chooseModel: createChooseModel({
        current: () => options.snapshot?.(),
        decisionId: ids.ulid,
        random: options.draw ?? Math.random,
        onFault: (reason) => decisionFaults.push(reason),
      }),
    }),
    attempt: createCountingAttemptStage({
      clock,
      limits,
      outbox: {
        async appendStarted(event) {
          await options.beforeAppend?.('started');
          await outbox.appendStarted(event);
          started.push(event);
          events.push('started');
        },
      },
      adapters,
      transport,
      bodies,
      breakers,
      capacity,
      secrets: {
        find: (ref) => (options.missingSecret === nameOfSecret(ref) ? undefined : 'secret'),
        forget: () => undefined,
      },
      random: options.random ?? (() => 0),
      retryBudget: () => budget,
      onRecordFault: (_call, error) => faults.push(error),
      onAccount: (change) => accounts.push(change),
    }),
    relay: createRelayStage({
      limits,
      estimator,
      onTopUpFault: (_call, error) => faults.push(error),
      ...(options.slowReaderMs === undefined ? {} : { slowReaderMs: options.slowReaderMs }),
    }),
    settle: createSettleStage({
      clock,
      limits: {
        ...limits,
        settle(lease, settlement) {
          events.push('lease settled');
          settlements.push(settlement);
          return limits.settle(lease, settlement);
        },
      },
      outbox: settledOutbox,
      estimator,
      recordLater: late.add,
      onCounted: () => undefined,
      report: (call, end) => {
        calls.push(call);
        events.push('reported');
        ends.push({ ...end, refusal: call.refusal });
      },
      ...(options.unread === undefined ? {} : { unread: options.unread }),
    }),
  });
  let count = 0;
  const server = createGatewayServer({
    pipeline,
    otherRoutes: (_request, response) => void response.writeHead(404).end(),
    currentConfig: () => config,
    heartbeats,
    clock,
    ids: { requestId: () => `req_${String((count += 1)).padStart(26, '0')}` },
    childTrace: () => `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    corsOrigins: [],
    ...(options.connectionsPerNetwork === undefined
      ? {}
      : { limits: { connectionsPerNetwork: options.connectionsPerNetwork } }),
    onFault: (error) => faults.push(error),
  });
  const { url, port } = await server.listen(0, '127.0.0.1');
  const scope = (
    config.keys.get(SAMPLE_KEYS.acme.split('-')[2] as string) as { scope: Parameters<LimitStore['view']>[0] }
  ).scope;

  return {
    late,
    url,
    port,
    events,
    started,
    settled,
    settlements,
    ends,
    calls,
    begun,
    faults,
    decisionFaults,
    jobs,
    accounts,
    server,
    breakers,
    capacity,
    heartbeats,
    view: () => memory.view(scope),
    slotsInUse: () =>
      capacity
        .report()
        .reduce((sum, pool) => sum + pool.in_use + Object.values(pool.queued).reduce((a, b) => a + b, 0), 0),
    chat: (body: object = {}, init: { headers?: Record<string, string>; signal?: AbortSignal } = {}) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${SAMPLE_KEYS.acme}`, 'content-type': 'application/json', ...init.headers },
        body: chatBody(body),
        ...(init.signal === undefined ? {} : { signal: init.signal }),
      }),
    async close() {
      await server.drain(0);
      await transport.close();
      bodies.close();
      await outbox.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export function chatBody(more: object = {}): string {
  return JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], ...more });
}

function configure(raw: RawSnapshot, { primary, second, change }: GatewayOptions): void {
  Object.assign(raw.providers.primary as object, { baseUrl: primary });
  Object.assign(raw.providers.secondary as object, {
    baseUrl: second ?? primary,
    dialect: 'openai',
    enabled: second !== undefined,
  });
  const { policy } = raw.plans.team as { policy: Record<string, unknown> };
  policy.retries = { maxAttempts: second === undefined ? 1 : 3, baseDelayMs: 1 };
  change?.(raw);
}
