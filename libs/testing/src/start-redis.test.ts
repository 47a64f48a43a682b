import { connect } from 'node:net';
import { findRedisServer, startRedis } from './start-redis.ts';

function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('error', () => resolve(false));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString() === '+PONG\r\n');
    });
  });
}

describe('startRedis', () => {
  it('starts a real server that can be killed, started again on its port, and stopped', async () => {
    const server = await startRedis();
    expect(await ping(server.port)).toBe(true);
    await server.kill();
    expect(await ping(server.port)).toBe(false);
    await server.restart();
    expect(await ping(server.port)).toBe(true);
    await server.stop();
    expect(await ping(server.port)).toBe(false);
  });

  it('says what to install where no server is', () => {
    expect(() => findRedisServer('/nonexistent')).toThrow(/redis-server.*apt-get install redis-server/);
  });
});
