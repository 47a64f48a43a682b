import { eventually } from '@sluice/testing';
import type { SimFault } from '@sluice/contracts';
import { instantBody, post, startTestSim, type TestSim } from './testing.ts';

let sim: TestSim;
beforeEach(async () => {
  sim = await startTestSim();
});
afterEach(() => sim.close());

const call = (more: object = {}, init: RequestInit = {}) =>
  post(`${sim.urls.primary}/v1/chat/completions`, instantBody(more), init);
const tokensIn = (text: string): number => text.split('"content":').length - 2;

describe('faults', () => {
  it('down: the connection breaks until the fault is cleared', async () => {
    await sim.fault('primary', { kind: 'down' });
    await expect(call()).rejects.toThrow();
    expect((await sim.control('GET', '/health')).status).toBe(200);
    expect((await sim.control('DELETE', '/providers/primary/fault')).status).toBe(204);
    expect((await call()).status).toBe(200);
    expect(await sim.stats('primary')).toMatchObject({ calls: 2, failed: 1, completed: 1 });
  });

  it('down: breaks calls in progress', async () => {
    const answer = await call({ stream: true, sim: { ttft_ms: 0, chunk_ms: 60_000 } });
    await sim.fault('primary', { kind: 'down' });
    await expect(answer.text()).rejects.toThrow();
    expect(await sim.stats('primary')).toMatchObject({
      failed: 1,
      cancelled: 0,
      in_flight: 0,
      partial_tokens: { input: 3, output: 1 },
    });
  });

  it('refuse: nobody listens, health says so, and clearing opens the same port', async () => {
    await sim.fault('primary', { kind: 'refuse' });
    await expect(call()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect((await sim.control('GET', '/health')).status).toBe(503);
    await sim.control('DELETE', '/providers/primary/fault');
    expect((await call()).status).toBe(200);
    expect((await sim.stats('primary')).calls).toBe(1);
  });

  it('slow: the first byte comes later by the latency', async () => {
    await sim.fault('primary', { kind: 'slow', latency_ms: 120 });
    const start = performance.now();
    expect((await call()).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(115);
  });

  it('a call that asks to fail does so alone, whatever the provider', async () => {
    const failed = await call({ sim: { fail: { status: 403 } } });
    const limited = await call({ sim: { fail: { status: 429, retry_after_s: 30 } } });
    expect([failed.status, limited.status, limited.headers.get('retry-after')]).toEqual([403, 429, '30']);
    expect((await call()).status).toBe(200);
    expect(await sim.stats('primary')).toMatchObject({ calls: 3, failed: 2, completed: 1 });
  });

  it('a call may have its usage misreported; the provider keeps the true count', async () => {
    const said = await call({
      sim: { usage: { input: 1_000_000_000, output: 7 }, output_tokens: 2, ttft_ms: 0, chunk_ms: 0 },
    });
    expect(await said.json()).toMatchObject({ usage: { prompt_tokens: 1_000_000_000, completion_tokens: 7 } });
    expect(await sim.stats('primary')).toMatchObject({ tokens: { output: 2 } });
  });

  it('error and rate_limit: the status, and when to come back', async () => {
    await sim.fault('primary', { kind: 'error', status: 503 });
    expect((await call()).status).toBe(503);
    await sim.fault('primary', { kind: 'rate_limit', retry_after_s: 7 });
    const limited = await call();
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await sim.stats('primary')).failed).toBe(2);
  });

  it('cut_stream: so many tokens, then the connection breaks', async () => {
    await sim.fault('primary', { kind: 'cut_stream', after_chunks: 4 });
    const answer = await call({ stream: true });
    let text = '';
    const read = async () => {
      for await (const part of answer.body ?? []) text += Buffer.from(part).toString();
    };
    await expect(read()).rejects.toThrow();
    expect(tokensIn(text)).toBe(4);
    expect(await sim.stats('primary')).toMatchObject({
      failed: 1,
      cancelled: 0,
      partial_tokens: { input: 3, output: 4 },
    });
  });

  it('stall: so many tokens, then silence on an open connection', async () => {
    await sim.fault('primary', { kind: 'stall', after_chunks: 2 });
    const gone = new AbortController();
    const answer = await call({ stream: true }, { signal: gone.signal });
    const first = await answer.body?.getReader().read();
    expect(tokensIn(Buffer.from(first?.value ?? []).toString())).toBe(2);
    expect((await sim.stats('primary')).in_flight).toBe(1);
    gone.abort();
    await eventually(async () =>
      expect(await sim.stats('primary')).toMatchObject({ in_flight: 0, cancelled: 1, partial_tokens: { output: 2 } }),
    );
  });

  it('garbage: 200 with a body that nobody can read', async () => {
    await sim.fault('primary', { kind: 'garbage' });
    const answer = await call();
    expect(answer.status).toBe(200);
    await expect(answer.json()).rejects.toThrow();
  });

  it('no_usage: a full answer without usage, whose tokens are counted all the same', async () => {
    await sim.fault('primary', { kind: 'no_usage' });
    expect(await (await call()).json()).not.toHaveProperty('usage');
    expect(await (await call({ stream: true, stream_options: { include_usage: true } })).text()).not.toContain(
      '"usage"',
    );
    expect((await sim.stats('primary')).tokens).toEqual({ input: 6, cache_read: 0, output: 40 });
  });

  it('rate: hits the same share of the same calls in every run', async () => {
    const run = async () => {
      await sim.fault('primary', { kind: 'error', rate: 0.5 });
      const statuses = [];
      for (let i = 0; i < 40; i++) statuses.push((await call()).status);
      return statuses;
    };
    const first = await run();
    const hits = first.filter((status) => status === 500).length;
    expect(hits).toBeGreaterThan(10);
    expect(hits).toBeLessThan(30);
    expect(await run()).toEqual(first);
  });

  it('seconds: clears itself', async () => {
    await sim.fault('primary', { kind: 'error', seconds: 0.1 });
    expect((await call()).status).toBe(500);
    await eventually(async () =>
      expect(await (await sim.control('GET', '/providers/primary/fault')).json()).toEqual({ fault: null }),
    );
    expect((await call()).status).toBe(200);
  });

  it('refuses a fault that it does not understand and a provider that is not there', async () => {
    const wrong: [string, object][] = [
      ['primary', { kind: 'fire' }],
      ['primary', { kind: 'down', rat: 1 }],
      ['primary', { kind: 'error', rate: 2 }],
      ['nobody', { kind: 'down' } satisfies SimFault],
    ];
    const statuses = [];
    for (const [provider, fault] of wrong)
      statuses.push((await sim.control('POST', `/providers/${provider}/fault`, fault)).status);
    expect(statuses).toEqual([400, 400, 400, 404]);
  });
});
