import {
  isRefusal,
  type Clock,
  type InboundCall,
  type PlannedAttempt,
  type Provider,
  type ProviderAdapter,
} from '@sluice/contracts';
import type { SlotLease, Timers } from '@sluice/limits';
import type { Transport } from '@sluice/providers';
import { OWN_PARTY } from '@sluice/resilience';
import { createCancelToken } from '../cancel-token.ts';
import type { CompiledConfig } from '../compiled-config.ts';
import type { AccountInUse } from './account-in-use.ts';
import type { AdapterLookup } from '../planning/static-plan.ts';
import { accountServed, noteAccount, type AccountDeps } from './account-verdicts.ts';
import type { Breakers } from './breakers.ts';
import type { AccountDemand, Capacity } from './capacity.ts';
import { openUpstream } from './open-upstream.ts';

/**
 * How a probe ended. `skipped`: it was not sent, because the breaker, the account or the slots did not allow one
 * more call.
 */
export type ProbeResult = 'ok' | 'failed' | 'refused' | 'skipped';

export interface HealthProbesDeps extends AccountDeps {
  readonly clock: Clock;
  readonly currentConfig: () => CompiledConfig | undefined;
  readonly adapters: AdapterLookup;
  readonly transport: Transport;
  readonly breakers: Breakers;
  readonly capacity: Capacity;
  readonly timers?: Timers;
  readonly onResult: (provider: string, result: ProbeResult) => void;
}

/**
 * Small calls of the gateway's own to the providers that ask for them. Their verdicts feed the breaker like any
 * call's, so that a breaker closes again without a customer's call at risk, or without any traffic. They are on
 * nobody's bill and in nobody's ledger, use no account that belongs to one tenant, and take a slot only where one
 * is free.
 */
export interface HealthProbes {
  start(): void;
  /** Sends what is due; the ticker calls it each second. Resolves when those calls are over. */
  tick(): Promise<void>;
  close(): void;
}

const TICK_MS = 1_000;
/** Marks a call that belongs to no workspace. */
const NOBODY = '00000000-0000-0000-0000-000000000000';
/** A probe waits for nothing. */
const DEMAND: AccountDemand = { tenantId: NOBODY, tokens: 1, mayWaitMs: 0 };
const processTimers: Timers = {
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

export function createHealthProbes(deps: HealthProbesDeps): HealthProbes {
  const { clock, timers = processTimers } = deps;
  const dueAt = new Map<string, number>();
  const running = new Set<string>();
  let ticker: NodeJS.Timeout | undefined;

  async function probe(
    config: CompiledConfig,
    provider: Provider,
    settings: NonNullable<Provider['healthProbe']>,
  ): Promise<ProbeResult> {
    const entry = entryOf(config, provider, settings.model);
    const adapter = deps.adapters(provider.dialect);
    if (entry === undefined || adapter === undefined) return 'skipped';
    const capacity = deps.capacity.pick(entry, config.version, DEMAND);
    const ref = capacity?.credential.secret;
    const secret = ref === undefined ? undefined : deps.secrets.find(ref);
    // Before anything is taken: what cannot be written must hold nothing.
    const request = adapter.buildRequest(inboundOf(adapter, entry), {
      baseUrl: provider.baseUrl,
      dialect: provider.dialect,
      providerModel: entry.providerModel,
      secret,
      extraHeaders: provider.headers,
      tenantMarker: NOBODY,
      carryFields: provider.carryFields,
    });
    const pass = deps.breakers.of(entry, config.version).tryEnter(OWN_PARTY);
    if (pass === undefined) return 'skipped';
    const use = capacity?.account.tryUse(NOBODY, entry.model);
    const slot = capacity?.pool.acquire({
      tenantId: NOBODY,
      workspaceId: NOBODY,
      priority: 'low',
      model: entry.model,
      costTokens: DEMAND.tokens,
      timeoutMs: 0,
    });
    const missing = ref !== undefined && secret === undefined;
    if (capacity === undefined || use === undefined || !isSlot(slot) || missing || isRefusal(request)) {
      pass.ignore();
      if (isSlot(slot)) {
        slot.gateUse?.giveBack();
        slot.release();
      }
      if (use !== undefined) capacity?.account.inconclusive(use);
      return 'skipped';
    }
    const used: AccountInUse = { requestId: 'health-probe', capacity, use };
    const cancel = createCancelToken();
    const timer = timers.setTimeout(() => cancel.cancel('total_deadline'), settings.timeoutMs);
    const result = await openUpstream({
      transport: deps.transport,
      adapter,
      request,
      inbound: inboundOf(adapter, entry),
      attempt: entry,
      attemptIndex: 0,
      cancel,
      connectMs: settings.timeoutMs,
      firstByteMs: settings.timeoutMs,
      idleMs: settings.timeoutMs,
      onReleased: () => void slot.release(),
      onHeaders: () => undefined,
    });
    timers.clearTimeout(timer);
    if (result.kind === 'cancelled') {
      capacity.account.inconclusive(use);
      pass.fail();
      return 'failed';
    }
    if (result.kind === 'failed') {
      noteAccount(deps, used, result.fault);
      const { kind, status } = result.fault;
      // An answer of 4xx says nothing of the provider's health, as with any call; a timeout here is the operator's
      // own setting.
      if (kind === 'account' || kind === 'rate_limited' || (status !== undefined && status >= 400 && status < 500)) {
        pass.ignore();
        return 'refused';
      }
      pass.fail();
      return 'failed';
    }
    accountServed(deps, used);
    pass.succeed();
    return 'ok';
  }

  const probes: HealthProbes = {
    start() {
      ticker ??= setInterval(() => void probes.tick(), TICK_MS).unref();
    },
    async tick() {
      const config = deps.currentConfig();
      const sent: Promise<void>[] = [];
      for (const provider of config?.providers.values() ?? []) {
        const settings = provider.healthProbe;
        if (config === undefined || settings === undefined || !provider.enabled || running.has(provider.id)) continue;
        const now = clock.monotonic();
        if (now < (dueAt.get(provider.id) ?? 0)) continue;
        dueAt.set(provider.id, now + settings.intervalMs);
        running.add(provider.id);
        sent.push(
          probe(config, provider, settings)
            .catch((): ProbeResult => 'failed')
            .then((result) => {
              running.delete(provider.id);
              deps.onResult(provider.id, result);
            }),
        );
      }
      await Promise.all(sent);
    },
    close() {
      clearInterval(ticker);
    },
  };
  return probes;
}

function entryOf(config: CompiledConfig, provider: Provider, modelId: string): PlannedAttempt | undefined {
  const offer = config.models.get(modelId)?.offers.find((candidate) => candidate.provider === provider.id);
  const credentials = provider.credentials.filter((credential) => credential.tenants === undefined);
  if (offer === undefined || credentials.length === 0) return undefined;
  return {
    provider,
    model: modelId,
    providerModel: offer.providerModel,
    credentials,
    price: offer.price,
    triggerOn: [],
  };
}

function inboundOf(adapter: ProviderAdapter, { providerModel }: PlannedAttempt): InboundCall {
  const body = { model: providerModel, max_tokens: 1, messages: [{ role: 'user', content: 'ping' }] };
  const operation = adapter.operations.includes('chat') ? 'chat' : 'messages';
  return {
    operation,
    bytes: Buffer.from(JSON.stringify(body)),
    body,
    stream: false,
    wantsUsage: false,
    forwardHeaders: {},
  };
}

function isSlot(value: object | undefined): value is SlotLease {
  return value !== undefined && 'release' in value;
}
