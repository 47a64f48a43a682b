import { applyPatch, ConfigSnapshot, ConfigStreamEvent, type ConfigPatch } from '@sluice/contracts';
import { startTestPlane, type TestPlane } from '../testing/start-test-plane.ts';

let test: TestPlane;
beforeEach(async () => {
  test = await startTestPlane({
    ledger: {
      rows: async () => ({ rows: [], next_cursor: null }),
      summary: () => Promise.reject(new Error('not asked')),
      usage: async () => [],
      quotaUse: async () => ({ spans: [] }),
      quotaAudit: async ({ levels }) => ({
        levels: levels.map(({ spans }) => ({ held: true, spans: spans.map(() => []) })),
      }),
      corrections: async () => ({ keys: [] }),
      watermarks: async () => [
        { gateway_id: 'gw-1', epoch: 3, sequence: 17 },
        { gateway_id: 'gw-2', epoch: 1, sequence: 5 },
      ],
    },
  });
});
afterEach(() => test.close());

interface Stream {
  next(event: string): Promise<unknown>;
  end(): Promise<void>;
}

const connect = (gateway: string, since = 0, more = ''): Promise<Stream> =>
  open(`/internal/config/stream?gateway=${gateway}&since=${since}${more}`, 'gateway-token');

async function open(path: string, token: string): Promise<Stream> {
  const abort = new AbortController();
  const res = await fetch(test.url + path, { headers: { authorization: `Bearer ${token}` }, signal: abort.signal });
  const reader = res.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  return {
    next: async (event) => {
      for (;;) {
        for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
          const frame = buffer.slice(0, end);
          buffer = buffer.slice(end + 2);
          const [name, ...data] = frame.split('\n').map((line) => line.replace(/^(event|data): /, ''));
          const parsed = ConfigStreamEvent.parse({ event: name, data: JSON.parse(data.join('\n')) });
          if (parsed.event === event) return parsed.data;
        }
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) throw new Error('the stream ended');
        buffer += chunk.value;
      }
    },
    end: async () => {
      abort.abort();
      await reader?.cancel().catch(() => undefined);
    },
  };
}

describe('the configuration stream', () => {
  it('tells the router the same as a gateway', async () => {
    const router = await open('/internal/router/config', 'router-token');
    const snapshot = ConfigSnapshot.parse(await router.next('snapshot'));
    expect((await test.call('DELETE', '/api/keys/acmeKey00001')).status).toBe(204);
    expect(((await router.next('patch')) as ConfigPatch).version).toBe(snapshot.version + 1);
    await router.end();
  });

  it('a key that is revoked is gone from every connected gateway', async () => {
    const streams = await Promise.all(['gw-1', 'gw-2'].map((gateway) => connect(gateway)));
    const snapshots = await Promise.all(
      streams.map(async (stream) => ConfigSnapshot.parse(await stream.next('snapshot'))),
    );
    expect(snapshots[0]?.keys['acmeKey00001']).toBeDefined();
    expect((await test.call('DELETE', '/api/keys/acmeKey00001')).status).toBe(204);
    for (const [i, stream] of streams.entries()) {
      const patch = (await stream.next('patch')) as ConfigPatch;
      const before = snapshots[i];
      if (before === undefined) throw new Error('no snapshot');
      expect(applyPatch(before, patch).keys['acmeKey00001']).toBeUndefined();
    }
    await Promise.all(streams.map((stream) => stream.end()));
  });

  it('a gateway that comes back is given only what it missed', async () => {
    const version = test.plane.store.version;
    await test.call('DELETE', '/api/keys/acmeKey00001');
    const stream = await connect('gw-1', version);
    expect(await stream.next('patch')).toMatchObject({
      version: version + 1,
      changes: [{ table: 'keys', id: 'acmeKey00001' }],
    });
    await stream.end();
  });

  it('tells each gateway its own watermarks, and pings', async () => {
    const stream = await connect('gw-1');
    for (let second = 0; second < 6; second += 1) await test.plane.beat();
    expect(await stream.next('watermark')).toEqual({ gateway_id: 'gw-1', epoch: 3, sequence: 17 });
    expect(await stream.next('ping')).toEqual({ version: test.plane.store.version });
    await stream.end();
  });

  it('serves what is in memory while the database is down', async () => {
    test.repository.failWith(new Error('database down'));
    const stream = await connect('gw-1');
    expect(ConfigSnapshot.parse(await stream.next('snapshot')).version).toBe(test.plane.store.version);
    await stream.end();
  });

  const status = async (query: string): Promise<number> => {
    const abort = new AbortController();
    const res = await fetch(`${test.url}/internal/config/stream?${query}`, {
      headers: { authorization: 'Bearer gateway-token' },
      signal: abort.signal,
    });
    abort.abort();
    return res.status;
  };

  it('is refused to a second gateway of a cell whose limits are counted in memory, with what to do', async () => {
    const first = await connect('gw-1', 0, '&cell=cell-a&store=memory');
    const res = await fetch(`${test.url}/internal/config/stream?gateway=gw-2&cell=cell-a&store=memory`, {
      headers: { authorization: 'Bearer gateway-token' },
    });
    expect(res.status).toBe(409);
    expect(((await res.json()) as { detail: string }).detail).toContain('Gateway gw-1 serves cell cell-a');
    expect(await status('gateway=gw-2&cell=cell-a&store=valkey')).toBe(409);
    expect(await status('gateway=gw-1&cell=cell-a&store=memory')).toBe(200);
    expect(await status('gateway=gw-3&cell=cell-b&store=memory')).toBe(200);
    await first.end();
  });

  it('is open to every gateway of a cell whose limits are counted in a shared store', async () => {
    const first = await connect('gw-1', 0, '&cell=cell-a&store=valkey');
    expect(await status('gateway=gw-2&cell=cell-a&store=valkey')).toBe(200);
    await first.end();
  });
});
