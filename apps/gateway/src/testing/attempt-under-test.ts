import type { IncomingMessage } from 'node:http';
import { HEADER, type InboundCall, type UpstreamRequest } from '@sluice/contracts';
import { createMemoryLimitStore } from '@sluice/limits';
import {
  createAdapterRegistry,
  type Transport,
  type TransportHandlers,
  type TransportTimeouts,
} from '@sluice/providers';
import { createRetryBudget, type RetryBudget } from '@sluice/resilience';
import { createFakeClock, type FakeClock, type FakeTimer } from '@sluice/testing';
import { createBodyPool } from '../bodies/body-pool.ts';
import { NO_PAYLOADS } from '../bodies/payloads.ts';
import type { Call, Resolved } from '../call.ts';
import { createCancelToken } from '../cancel-token.ts';
import { createCall } from '../http/envelope.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { createAttemptStage } from '../stages/attempt/attempt.ts';
import type { AccountChange } from '../upstream/account-verdicts.ts';
import { isPlanRefusal, staticPlan } from '../planning/static-plan.ts';
import { createBreakers } from '../upstream/breakers.ts';
import { createCapacity } from '../upstream/capacity.ts';
import { createHealthProbes, type HealthProbes } from '../upstream/health-probes.ts';
import { compiledSample } from './compiled-sample.ts';
import { inlineWorker } from './inline-worker.ts';
import { SAMPLE_KEYS, type RawSnapshot } from './sample-snapshot.ts';
import { WHOLE } from './scripted-upstream.ts';

/** What a provider does with one request. */
export type Reply =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly afterMs?: number;
    }
  | 'reset'
  | 'silence'
  | 'no_connection';

export const OK: Reply = { status: 200, body: WHOLE };

export interface Sent {
  readonly atMs: number;
  readonly provider: string;
  readonly secret: string;
  readonly tenantMarker: string;
  readonly body: string;
}

export interface AttemptUnderTest {
  readonly clock: FakeClock;
  readonly sent: Sent[];
  readonly accounts: AccountChange[];
  readonly passed: string[];
  readonly breakers: ReturnType<typeof createBreakers>;
  readonly capacity: ReturnType<typeof createCapacity>;
  /** Active probes over the same providers. */
  readonly probes: HealthProbes;
  readonly probed: string[];
  /** Whether a secret is there. */
  readonly secrets: Set<string>;
  budget(provider: string): RetryBudget;
  /** Runs one call's attempts; time passes until they are decided, at most `limitMs`. */
  run(options?: { readonly headers?: Readonly<Record<string, string>>; readonly limitMs?: number }): Promise<Ended>;
}

export interface Ended {
  readonly call: Call;
  /** The refusal's code, or `ok`. */
  readonly code: string;
  readonly tookMs: number;
}

const PROVIDER_OF: Readonly<Record<string, string>> = { 'http://first:1': 'primary', 'http://second:1': 'secondary' };

/**
 * The attempt stage on a clock that moves only when told to, before providers that answer by a script: each
 * provider has a list of replies, the last of which goes on for ever.
 */
export function createAttemptUnderTest(
  replies: { readonly primary: Reply[]; readonly secondary?: Reply[] },
  change: (raw: RawSnapshot) => void = () => undefined,
): AttemptUnderTest {
  const clock = createFakeClock(1_700_000_000_000);
  const timers = {
    setTimeout: clock.setTimeout,
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer as FakeTimer | undefined),
  };
  const config = compiledSample((raw) => {
    Object.assign(raw.providers.primary as object, { baseUrl: 'http://first:1/v1' });
    Object.assign(raw.providers.secondary as object, {
      baseUrl: 'http://second:1/v1',
      dialect: 'openai',
      enabled: replies.secondary !== undefined,
    });
    change(raw);
  });
  const workspace = config.workspaces.get('acme-prod') as NonNullable<ReturnType<typeof config.workspaces.get>>;
  const key = config.keys.get(SAMPLE_KEYS.acme.split('-')[2] as string);
  const adapters = createAdapterRegistry({ clock }).get;
  const sent: Sent[] = [];
  const accounts: AccountChange[] = [];
  const passed: string[] = [];
  const secrets = new Set(['SLUICE_SECRET_A', 'SLUICE_SECRET_B']);
  const breakers = createBreakers({ clock, onChange: () => undefined });
  const capacity = createCapacity({ clock, timers });
  const budgets = new Map<string, RetryBudget>();
  const budget = (provider: string): RetryBudget => {
    const known = budgets.get(provider) ?? createRetryBudget({ clock });
    budgets.set(provider, known);
    return known;
  };
  const scripts: Record<string, Reply[]> = { primary: [...replies.primary], secondary: [...(replies.secondary ?? [])] };

  const transport: Transport = {
    send(request, handlers, timeouts) {
      const provider = PROVIDER_OF[request.origin] as string;
      const script = scripts[provider] as Reply[];
      const reply = script.length > 1 ? (script.shift() as Reply) : (script[0] as Reply);
      sent.push({
        atMs: clock.monotonic(),
        provider,
        secret: headerOf(request, 'authorization').replace('Bearer ', ''),
        tenantMarker: headerOf(request, HEADER.tenantMarker),
        body: request.body.toString(),
      });
      return { abort: play(clock, reply, handlers, timeouts), pause: () => undefined, resume: () => undefined };
    },
    close: () => Promise.resolve(),
  };

  const stage = createAttemptStage({
    clock,
    timers,
    limits: createMemoryLimitStore({ clock }),
    outbox: { appendStarted: () => Promise.resolve() },
    adapters,
    transport,
    bodies: createBodyPool({ clock, spawn: inlineWorker }),
    breakers,
    capacity,
    secrets: {
      find: (ref) => (ref.kind === 'env' && secrets.has(ref.name) ? ref.name : undefined),
      forget: () => undefined,
    },
    random: () => 0.5,
    retryBudget: budget,
    onRecordFault: () => undefined,
    onAccount: (change) => accounts.push(change),
    onPassed: (provider, reason) => passed.push(`${provider}:${reason}`),
  });

  const probed: string[] = [];
  const probes = createHealthProbes({
    clock,
    timers,
    currentConfig: () => config,
    adapters,
    transport,
    breakers,
    capacity,
    secrets: {
      find: (ref) => (ref.kind === 'env' && secrets.has(ref.name) ? ref.name : undefined),
      forget: () => undefined,
    },
    onAccount: (change) => accounts.push(change),
    onResult: (provider, result) => probed.push(`${provider}:${result}`),
  });

  function callOf(headers: Readonly<Record<string, string>>): Call {
    const body = { model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }] };
    const inbound: InboundCall = {
      operation: 'chat',
      bytes: Buffer.from(JSON.stringify(body)),
      body,
      stream: false,
      wantsUsage: false,
      forwardHeaders: {},
    };
    const call = createCall({
      id: 'req_1',
      request: { headers } as IncomingMessage,
      response: {} as ClientResponse,
      cancel: createCancelToken(),
      config,
      dialect: 'openai',
      operation: 'chat',
      traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      clock,
    });
    const model = config.models.get('sim-small') as NonNullable<ReturnType<typeof config.models.get>>;
    const wanted: Omit<Resolved, 'plan'> = {
      inbound,
      bodyBytes: inbound.bytes.length,
      weighedBytes: inbound.bytes.length,
      payloads: NO_PAYLOADS,
      modelRequested: 'sim-small',
      candidates: [model],
      pinned: false,
      feature: undefined,
      tags: {},
      endUser: undefined,
      maxOutputTokens: undefined,
      choices: 1,
      askedUse: undefined,
      billedPrice: { inputPicoUsd: 1, outputPicoUsd: 1 },
      priceVersion: 1,
      choice: undefined,
    };
    const plan = staticPlan(config, workspace, wanted, adapters);
    if (isPlanRefusal(plan)) throw new Error(plan.code);
    return Object.assign(call, {
      key,
      resolved: { ...wanted, plan },
      plan,
      reservation: { inputTokens: 1, outputTokens: 1, costNanoUsd: 1 },
    });
  }

  return {
    clock,
    sent,
    accounts,
    passed,
    breakers,
    capacity,
    probes,
    probed,
    secrets,
    budget,
    async run({ headers = {}, limitMs = 700_000 } = {}) {
      const call = callOf(headers);
      const from = clock.monotonic();
      let ended: Ended | undefined;
      void Promise.resolve(stage.run(call)).then((refusal) => {
        ended = { call, code: refusal?.code ?? 'ok', tookMs: clock.monotonic() - from };
      });
      // One millisecond at a time, so that what happens at a time happens at that time.
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        if (ended !== undefined) break;
        if (clock.monotonic() - from >= limitMs) throw new Error('not decided in time');
        clock.advance(1);
      }
      call.stopTimers?.();
      call.verdict?.succeed();
      return ended as Ended;
    },
  };
}

/** @returns how to give the exchange up. */
function play(clock: FakeClock, reply: Reply, handlers: TransportHandlers, timeouts: TransportTimeouts): () => void {
  let given = false;
  const act = (): void => {
    if (given) return;
    if (reply === 'reset') handlers.onError({ kind: 'connect', detail: 'reset' });
    else if (reply === 'silence') handlers.onError({ kind: 'timeout', deadline: 'first_byte', detail: 'silent' });
    else if (reply === 'no_connection')
      handlers.onError({ kind: 'connect', deadline: 'connect', detail: 'no connection' });
    else {
      handlers.onHeaders(reply.status, { 'content-type': 'application/json', ...reply.headers });
      handlers.onData(Buffer.from(reply.body ?? '{"error":{"message":"no","type":"x"}}'));
      handlers.onEnd();
    }
  };
  const afterMs =
    reply === 'silence'
      ? timeouts.firstByteMs
      : reply === 'no_connection'
        ? timeouts.connectMs
        : reply === 'reset'
          ? 0
          : (reply.afterMs ?? 0);
  const timer = afterMs === 0 ? undefined : clock.setTimeout(act, afterMs);
  if (timer === undefined) queueMicrotask(act);
  return () => {
    given = true;
    clock.clearTimeout(timer);
  };
}

function headerOf({ headers }: UpstreamRequest, name: string): string {
  const at = headers.indexOf(name);
  return at < 0 ? '' : (headers[at + 1] as string);
}
