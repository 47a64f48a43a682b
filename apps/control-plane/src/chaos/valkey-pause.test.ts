import { startRedis, type RedisServer } from '@sluice/testing';
import { connect } from 'node:net';
import { createValkeyPause } from './valkey-pause.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis?.stop());

/** Whether a write is answered within a time. */
function writes(withinMs: number): Promise<boolean> {
  const { hostname, port } = new URL(redis.url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(withinMs, () => end(false));
    socket.on('error', () => end(false));
    socket.on('data', () => end(true));
    socket.write('SET k v\r\n');
  });
}

describe('a cut shared store', () => {
  it('answers no write while it is cut, and at once when that is undone', async () => {
    const valkey = createValkeyPause(redis.url);
    expect(await writes(10_000)).toBe(true);
    await valkey.pause(60);
    expect(await writes(300)).toBe(false);
    await valkey.resume();
    expect(await writes(10_000)).toBe(true);
  });

  it('says so when it is away or refuses', async () => {
    await expect(createValkeyPause('redis://127.0.0.1:1').pause(1)).rejects.toMatchObject({ status: 502 });
    await expect(createValkeyPause(redis.url.replace('redis://', 'redis://:wrong@')).pause(1)).rejects.toMatchObject({
      status: 502,
      detail: expect.stringMatching(/AUTH|password|WRONGPASS/),
    });
  });
});
