import { createUnreadAnswers, type UnreadBounds } from './unread-answers.ts';

const BOUNDS: UnreadBounds = {
  tenantBytes: 1_000,
  processBytes: 2_400,
  floorBytes: 100,
  promptMs: 10_000,
  stallMs: 30_000,
};

function setUp(bounds: Partial<UnreadBounds> = {}) {
  const unread = createUnreadAnswers({ ...BOUNDS, ...bounds });
  const answer = (tenantId: string, bytes: number, held = bytes) => {
    let end: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (end = resolve));
    const client = {
      bufferedBytes: bytes,
      cuts: 0,
      destroy() {
        client.cuts += 1;
        end();
      },
    };
    const done = unread.wait(client, left, tenantId, held);
    return { client, done, end: () => end(), take: (taken: number) => (client.bufferedBytes -= taken) };
  };
  return { unread, answer };
}

const cutsOf = (answers: readonly { client: { cuts: number } }[]) => answers.map(({ client }) => client.cuts);

describe('clients that leave whole answers unread', () => {
  it('within the bound of their tenant are not cut', () => {
    const { unread, answer } = setUp();
    const held = [answer('acme', 500), answer('acme', 500)];
    for (let ms = 0; ms < 30_000; ms += 1_000) unread.tick(ms);
    expect(cutsOf(held)).toEqual([0, 0]);
    expect(unread.bytesOf('acme')).toBe(1_000);
  });

  it('beyond it are cut, the slowest first and no more than it takes', async () => {
    const { unread, answer } = setUp();
    const [slow, slower, slowest] = [answer('acme', 400), answer('acme', 400), answer('acme', 400)];
    for (let ms = 0; ms <= 1_000; ms += 1_000) {
      unread.tick(ms);
      slow.take(10);
      slower.take(5);
    }
    expect(cutsOf([slow, slower, slowest])).toEqual([0, 0, 1]);
    expect(await slowest.done).toBe('tenant_unread');
    expect(unread.bytesOf('acme')).toBe(800);
  });

  it('are given time to show their pace, and spared while they will soon have taken the rest', () => {
    const { unread, answer } = setUp();
    const held = [answer('acme', 600), answer('acme', 600)];
    for (let ms = 0; ms < 9_000; ms += 1_000) {
      unread.tick(ms);
      for (const one of held) one.take(61);
    }
    expect(cutsOf(held)).toEqual([0, 0]);
  });

  it('are spared by nothing at twice the bound, at once', () => {
    const { unread, answer } = setUp();
    const held = [answer('acme', 700), answer('acme', 700), answer('acme', 700)];
    expect(cutsOf(held)).toEqual([1, 0, 0]);
    expect(unread.bytesOf('acme')).toBe(1_400);
  });

  it('of one tenant cost no other tenant its answers', () => {
    const { unread, answer } = setUp();
    const other = answer('globex', 1_000);
    const held = [answer('acme', 900), answer('acme', 900)];
    for (let ms = 0; ms <= 1_000; ms += 1_000) unread.tick(ms);
    expect(cutsOf([...held, other])).toEqual([1, 0, 0]);
  });

  it('of all tenants together are bounded too: who holds most pays, who holds its fair share does not', async () => {
    const { unread, answer } = setUp();
    const small = answer('small', 500);
    const held = ['a', 'b', 'c'].map((tenant) => [answer(tenant, 450), answer(tenant, 450)]).flat();
    for (let ms = 0; ms <= 1_000; ms += 1_000) unread.tick(ms);
    expect(small.client.cuts).toBe(0);
    expect(cutsOf(held)).toEqual([1, 0, 1, 0, 1, 0]);
    expect(await held[0]?.done).toBe('process_unread');
  });

  it('hold their floor however much others hold', () => {
    const { unread, answer } = setUp({ processBytes: 1_000 });
    const small = Array.from({ length: 30 }, (_, i) => answer(`tenant-${i}`, 100));
    for (let ms = 0; ms <= 1_000; ms += 1_000) unread.tick(ms);
    expect(cutsOf(small)).toEqual(small.map(() => 0));
  });

  it('are forgotten once they have taken all, and what counts elsewhere is not counted', async () => {
    const { unread, answer } = setUp();
    const [whole, tail] = [answer('acme', 900), answer('acme', 5_000, 0)];
    whole.end();
    expect(await whole.done).toBeUndefined();
    for (let ms = 0; ms <= 1_000; ms += 1_000) unread.tick(ms);
    expect(unread.bytesOf('acme')).toBe(0);
    expect(tail.client.cuts).toBe(0);
  });
});

describe('the last bytes', () => {
  const MB = 1024 * 1024;
  const ROOM = { tenantBytes: 100 * MB, processBytes: 100 * MB };
  const after = (bytes: number, perSecond: number, seconds: number) => {
    const { unread, answer } = setUp(ROOM);
    const one = answer('acme', bytes);
    for (let second = 0; second <= seconds; second += 1) {
      unread.tick(second * 1_000);
      one.take(Math.min(one.client.bufferedBytes, perSecond));
    }
    return one;
  };

  it('a client that stops reading is cut', async () => {
    const one = after(1_000, 0, 30);
    expect(await one.done).toBe('stalled');
    expect(after(1_000, 0, 29).client.cuts).toBe(0);
  });

  it('a client that takes a few bytes now and then is cut too', () => {
    expect(after(100_000, 100, 30).client.cuts).toBe(1);
  });

  it('a client that would take a large answer for hours, at the minimum rate, is cut too', () => {
    expect(after(32 * MB, 2_000, 30).client.cuts).toBe(1);
  });

  it('a client that reads slowly is not', () => {
    expect(after(32 * MB, 60_000, 550).client.cuts).toBe(0);
  });
});
