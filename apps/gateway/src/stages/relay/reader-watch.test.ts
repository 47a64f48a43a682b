import { createReaderWatch, type ReaderLimits } from './reader-watch.ts';

const LIMITS: ReaderLimits = {
  streamBytes: 1_000,
  tenantBytes: 3_000,
  processBytes: 5_000,
  floorBytes: 100,
  minBytesPerSecond: 10,
  windowMs: 30_000,
};

function setUp() {
  const watch = createReaderWatch(LIMITS);
  const stream = (tenantId = 'acme') => {
    const state = { bufferedBytes: 0, paused: false, cuts: 0 };
    const source = { pause: () => (state.paused = true), resume: () => (state.paused = false) };
    const reader = watch.follow(tenantId, state, source, () => (state.cuts += 1));
    return {
      state,
      reader,
      /** The provider sends, the client takes nothing. */
      pile(bytes: number) {
        state.bufferedBytes += bytes;
        reader.wrote(bytes, false);
      },
      take(bytes: number) {
        state.bufferedBytes -= bytes;
      },
    };
  };
  return { watch, stream };
}

describe('a reader that is behind', () => {
  it('may fall behind by its buffer, then its provider is paused until half of it is taken', () => {
    const { watch, stream } = setUp();
    const { state, pile, take } = stream();
    pile(1_000);
    expect(state.paused).toBe(false);
    pile(1);
    expect(state.paused).toBe(true);
    take(400);
    watch.tick(1_000);
    expect(state.paused).toBe(true);
    take(200);
    watch.tick(2_000);
    expect(state.paused).toBe(false);
  });

  it('below the minimum rate is cut at the end of the window, once, also when it is not paused', () => {
    const { watch, stream } = setUp();
    const { state, pile, take } = stream();
    pile(500);
    watch.tick(0);
    take(290);
    watch.tick(29_999);
    expect(state.cuts).toBe(0);
    watch.tick(30_000);
    watch.tick(90_000);
    expect(state.cuts).toBe(1);
  });

  it('at the minimum rate is not cut, however long it takes', () => {
    const { watch, stream } = setUp();
    const { state, pile, take } = stream();
    pile(900);
    for (let seconds = 0; seconds <= 600; seconds += 30) {
      watch.tick(seconds * 1_000);
      take(300);
      pile(300);
    }
    expect(state.cuts).toBe(0);
  });

  it('is forgotten once it has caught up, and its provider goes on', () => {
    const { watch, stream } = setUp();
    const { state, reader, pile, take } = stream();
    pile(1_100);
    take(1_100);
    reader.caughtUp();
    expect(state.paused).toBe(false);
    expect([watch.behind, watch.bytesOf('acme')]).toEqual([0, 0]);
  });

  it('still counts after its provider has ended, is not cut here, and nobody is resumed', () => {
    const { watch, stream } = setUp();
    const { state, reader, pile, take } = stream();
    pile(1_100);
    reader.upstreamEnded();
    watch.tick(0);
    watch.tick(60_000);
    expect(state.cuts).toBe(0);
    expect(watch.bytesOf('acme')).toBe(1_100);
    take(1_100);
    watch.tick(61_000);
    expect([watch.behind, watch.bytesOf('acme'), state.paused]).toEqual([0, 0, true]);
  });
});

describe('the budget of a tenant', () => {
  it('is shared by its streams: beyond it each keeps the floor only, and other tenants are not concerned', () => {
    const { watch, stream } = setUp();
    const held = [stream(), stream(), stream()];
    for (const one of held) one.pile(1_000);
    expect(held.map(({ state }) => state.paused)).toEqual([false, false, false]);
    const late = stream();
    late.pile(100);
    expect(late.state.paused).toBe(false);
    late.pile(1);
    expect(late.state.paused).toBe(true);
    const other = stream('globex');
    other.pile(900);
    expect(other.state.paused).toBe(false);
    expect(watch.bytesOf('acme')).toBe(3_101);
  });

  it('counts what clients have taken meanwhile as free again', () => {
    const { watch, stream } = setUp();
    const held = [stream(), stream(), stream()];
    for (const one of held) one.pile(1_000);
    const late = stream();
    late.pile(200);
    expect(late.state.paused).toBe(true);
    held[0]?.take(900);
    watch.tick(1_000);
    watch.tick(2_000);
    expect(late.state.paused).toBe(false);
  });

  it('all tenants together are bounded too', () => {
    const { stream } = setUp();
    for (const tenant of ['a', 'b', 'c', 'd', 'e', 'f']) stream(tenant).pile(900);
    const late = stream('g');
    late.pile(200);
    expect(late.state.paused).toBe(true);
  });
});
