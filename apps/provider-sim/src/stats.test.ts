import { eventually } from '@sluice/testing';
import { createCallLog } from './call-log.ts';
import { instantBody, post, startTestSim, type TestSim } from './testing.ts';

let sim: TestSim;
beforeEach(async () => {
  sim = await startTestSim(2);
});
afterEach(() => sim.close());

const CHAT = '/v1/chat/completions';

describe('the provider’s own count', () => {
  it('counts completed calls by model and tenant, with disjoint token classes', async () => {
    const headers = { 'x-sluice-tenant': 'tenant-1' };
    await post(sim.urls.primary + CHAT, instantBody({}, { cached_tokens: 2 }), { headers });
    await (await post(sim.urls.primary + CHAT, instantBody({ stream: true }, { output_tokens: 5 }))).text();
    const row = { calls: 2, completed: 2, input: 6, output: 25 };
    expect(await sim.stats('primary')).toMatchObject({
      provider: 'primary',
      calls: 2,
      completed: 2,
      tokens: { input: 4, cache_read: 2, output: 25 },
      by_model: { 'sim-small': row },
      by_tenant_marker: { 'tenant-1': { calls: 1, completed: 1, input: 3, output: 20 } },
    });
    expect((await sim.stats('tertiary')).calls).toBe(0);
  });

  it('counts a caller that goes away as cancelled at once, with what was generated until then', async () => {
    const gone = new AbortController();
    const answer = await post(
      sim.urls.primary + CHAT,
      { ...instantBody({ stream: true }), sim: { ttft_ms: 0, chunk_ms: 60_000 } },
      { signal: gone.signal },
    );
    await answer.body?.getReader().read();
    expect(await sim.stats('primary')).toMatchObject({ in_flight: 1, max_in_flight: 1, cancelled: 0 });
    gone.abort();
    await eventually(async () => expect((await sim.stats('primary')).cancelled).toBe(1));
    expect(await sim.stats('primary')).toMatchObject({
      completed: 0,
      in_flight: 0,
      tokens: { output: 0 },
      partial_tokens: { input: 3, output: 1 },
    });
  });

  it.each([
    ['primary', CHAT, 429],
    ['secondary', '/v1/messages', 529],
  ] as const)('%s refuses above its slots and counts the refusal as a call only', async (name, path, status) => {
    const gone = new AbortController();
    const slow = { ...instantBody({ stream: true, max_tokens: 9 }), sim: { ttft_ms: 0, chunk_ms: 60_000 } };
    await Promise.all([1, 2].map(() => post(sim.urls[name] + path, slow, { signal: gone.signal })));
    expect((await post(sim.urls[name] + path, instantBody({ max_tokens: 9 }))).status).toBe(status);
    expect(await sim.stats(name)).toMatchObject({ calls: 3, in_flight: 2, failed: 0 });
    gone.abort();
  });

  it('keeps the speed of its model: a whole answer takes the first token and every chunk', async () => {
    const start = performance.now();
    await (
      await post(sim.urls.primary + CHAT, { ...instantBody(), sim: { ttft_ms: 50, chunk_ms: 10, output_tokens: 6 } })
    ).json();
    expect(performance.now() - start).toBeGreaterThanOrEqual(105);
  });

  it('lists each ended call with the caller’s request id, how it ended and its tokens, from where the reader left off', async () => {
    const headers = { 'x-client-request-id': 'req_1' };
    await (await post(sim.urls.primary + CHAT, instantBody({}, { cached_tokens: 2 }), { headers })).text();
    await (await post(sim.urls.primary + CHAT, { model: 'no-such-model', messages: [] })).text();
    const read = async (after: string) => (await sim.control('GET', `/providers/primary/calls?after=${after}`)).json();
    await eventually(async () =>
      expect(await read('0')).toEqual({
        calls: [
          {
            seq: 1,
            request_id: 'req_1',
            model: 'sim-small',
            ending: 'completed',
            tokens: { input: 1, cache_read: 2, output: 20 },
          },
          { seq: 2, request_id: null, model: null, ending: 'refused', tokens: { input: 0, cache_read: 0, output: 0 } },
        ],
        dropped: 0,
      }),
    );
    expect(await read('1')).toMatchObject({ calls: [{ seq: 2 }], dropped: 0 });
    expect(await read('2')).toEqual({ calls: [], dropped: 0 });
    expect((await sim.control('GET', '/providers/primary/calls?after=x')).status).toBe(400);
  });

  it('remembers the last calls only, and says how many it has forgotten', () => {
    const log = createCallLog(3);
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      log.add({ request_id: id, model: null, ending: 'completed', tokens: { input: 0, cache_read: 0, output: 0 } });
    expect(log.after(0).calls.map((call) => call.request_id)).toEqual(['c', 'd', 'e']);
    expect(log.after(0).dropped).toBe(2);
    expect(log.after(1).dropped).toBe(1);
    expect(log.after(3)).toMatchObject({ dropped: 0, calls: [{ request_id: 'd' }, { request_id: 'e' }] });
  });

  it('starts again from zero when reset', async () => {
    await post(sim.urls.primary + CHAT, instantBody());
    expect((await sim.control('DELETE', '/providers/primary/stats')).status).toBe(204);
    expect(await sim.stats('primary')).toMatchObject({ calls: 0, completed: 0, by_model: {} });
  });
});
