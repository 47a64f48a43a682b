import { CallSettled, zeroUsage, type IncomingEvent } from '@sluice/contracts';
import { createSignalTable } from '@sluice/routing';
import { createCallAverages } from '../learn/call-averages.ts';
import { createMemoryRouterStore } from '../store/memory-router-store.ts';
import { AT_MS, decision, ulid } from '../testing/fixtures.ts';
import { createRefusalHandler, createUsageHandler } from './usage-handler.ts';

let n = 0;
function message(body: object): IncomingEvent {
  return { messageId: `m${(n += 1)}`, body: JSON.stringify(body), attributes: {}, receiveCount: 1 };
}
function settled(tenant: string, outputTokens: number, more: object = {}): object {
  n += 1;
  const requestId = `req_${ulid(n)}`;
  const event = {
    schema: 'sluice.event/1',
    event_id: `${requestId}.settled`,
    occurred_at: new Date(AT_MS).toISOString(),
    type: 'call.settled',
    gateway_id: 'gw',
    epoch: 1,
    sequence: n,
    request_id: requestId,
    tenant_id: tenant,
    workspace: `${tenant}-prod`,
    workspace_id: 'a0c3e000-0000-4000-8000-000000000001',
    cell_id: 'c',
    key_id: 'acmeKey00001',
    operation: 'chat',
    stream: false,
    model_requested: 'auto',
    tags: {},
    outcome: 'ok',
    status: 200,
    abort_case: 'complete',
    provider: 'primary',
    model: 'small',
    fallback: false,
    priority: 'standard',
    cache: 'off',
    usage: { ...zeroUsage(), output: outputTokens },
    usage_source: 'provider',
    cost_nanousd: 10,
    billed_nanousd: 15,
    price_version: 1,
    estimate: { input_tokens: 1, output_tokens: 1 },
    latency: { overhead_us: 1, queue_ms: 0, total_ms: 120 },
    attempts: [],
    ...more,
  };
  return event;
}
const refused = (tenant: string, count: number): object => ({
  schema: 'sluice.event/1',
  event_id: `a${(n += 1)}`,
  occurred_at: new Date(AT_MS).toISOString(),
  type: 'refusals.throttled',
  gateway_id: 'gw',
  cell_id: 'c',
  tenant_id: tenant,
  count,
  subject: 'x',
  message: 'x',
  samples: [],
});

function harness() {
  const store = createMemoryRouterStore();
  const signals = createSignalTable();
  const averages = createCallAverages();
  const calls: string[] = [];
  let away = false;
  const usage = createUsageHandler({
    signals,
    averages,
    rewardTimeoutMs: 60_000,
    commit: (changes) => (away ? Promise.reject(new Error('away')) : store.commit(changes)),
    onCall: ({ decision_id }) => void calls.push(decision_id),
    onDecision: () => undefined,
  });
  return {
    store,
    signals,
    averages,
    calls,
    usage,
    refusals: createRefusalHandler(signals),
    setAway: (to: boolean) => (away = to),
  };
}

describe('the consumer of usage', () => {
  it('makes the events that this test makes as gateways do', () => {
    expect(CallSettled.safeParse(settled('acme', 1)).error?.issues ?? []).toEqual([]);
  });

  it("after traffic like the seed's finds acme far harder than globex, and pressure at the flooded tenant alone", async () => {
    const { signals, usage, refusals } = harness();
    for (let i = 0; i < 20; i += 1) {
      await usage([message(settled('acme', 250)), message(settled('globex', 20)), message(settled('initech', 20))]);
      await refusals([message(refused('initech', 100))]);
    }
    const of = (tenant: string, later = 0) => signals.profile(tenant, AT_MS + later);
    expect(of('acme')?.difficulty).toBeGreaterThan(5 * (of('globex')?.difficulty ?? 1));
    expect(of('initech')?.pressure).toBeGreaterThan(0.7);
    expect([of('acme')?.pressure, of('globex')?.pressure, of('initech', 120_000)?.pressure]).toEqual([0, 0, 0]);
  });

  it("keeps a gateway's decision with what became of it, once", async () => {
    const { store, calls, usage, averages } = harness();
    const event = message(settled('acme', 40, { decision: decision(1), decision_id: ulid(1) }));
    await usage([event]);
    await usage([event]);
    expect((await store.find([ulid(1)])).get(ulid(1))).toMatchObject({
      source: 'gateway',
      tenant: 'acme',
      workspace: 'acme-prod',
      rewardState: 'pending',
      call: { outcome: 'ok', executedModel: 'small', outputTokens: 40 },
    });
    expect(calls).toEqual([ulid(1)]);
    expect(averages.of('small')).toEqual({ n: 1, latencyMs: 120, outputTokens: 40, costNanoUsd: 15 });
  });

  it('fails as a whole while the store is away, and counts nothing before it comes again', async () => {
    const { signals, usage, setAway } = harness();
    const event = message(settled('acme', 40, { decision: decision(1), decision_id: ulid(1) }));
    setAway(true);
    await expect(usage([event])).rejects.toThrow('away');
    expect(signals.profile('acme', AT_MS)).toBeUndefined();
    setAway(false);
    await usage([event]);
    expect(signals.profile('acme', AT_MS)?.calls).toBe(1);
  });

  it('fails an unreadable event alone, with the reason', async () => {
    const { usage, signals } = harness();
    const bad = message({ type: 'call.settled' });
    const verdict = await usage([bad, message(settled('acme', 40))]);
    expect([...verdict.failed.keys()]).toEqual([bad.messageId]);
    expect(verdict.failed.get(bad.messageId)).toContain('event_id');
    expect(signals.profile('acme', AT_MS)?.calls).toBe(1);
  });
});
