import type { ClientResponse } from '../../http/client-response.ts';
import { finishOrCut } from './finish-or-cut.ts';

function response(bufferedBytes: number) {
  let end: () => void = () => undefined;
  const state = { bufferedBytes, destroyed: false };
  const fake = {
    get bufferedBytes() {
      return state.bufferedBytes;
    },
    finish: () => new Promise<void>((resolve) => (end = resolve)),
    destroy() {
      state.destroyed = true;
      end();
    },
  } as unknown as ClientResponse;
  return { fake, state, end: () => end() };
}

describe('the last bytes', () => {
  it('a client that stops reading is cut', async () => {
    const { fake, state } = response(1000);
    await finishOrCut(fake, undefined, 20);
    expect(state.destroyed).toBe(true);
  });

  it('a client that takes a few bytes now and then is cut too', async () => {
    const { fake, state } = response(100_000);
    const reading = setInterval(() => (state.bufferedBytes -= 1), 5);
    await finishOrCut(fake, undefined, 50);
    clearInterval(reading);
    expect(state.destroyed).toBe(true);
  });

  it('a client that would take a large answer for hours, at the minimum rate, is cut too', async () => {
    const { fake, state } = response(32 * 1024 * 1024);
    const reading = setInterval(() => (state.bufferedBytes -= 2_000), 5);
    await finishOrCut(fake, undefined, 100);
    clearInterval(reading);
    expect(state.destroyed).toBe(true);
  });

  it('a client that reads slowly is not', async () => {
    const { fake, state, end } = response(1000);
    const reading = setInterval(() => {
      state.bufferedBytes -= 100;
      if (state.bufferedBytes === 0) end();
    }, 10);
    await finishOrCut(fake, undefined, 25);
    clearInterval(reading);
    expect(state.destroyed).toBe(false);
  });
});
