import { createServer, type AddressInfo } from 'node:net';
import { portsFrom } from '@sluice/contracts';
import { freePort, freePortBase } from './free-port.ts';

function bind(port: number) {
  return new Promise<{ port: number; close: () => Promise<void> }>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () => new Promise<void>((done) => void server.close(() => done())),
      }),
    );
  });
}

describe('free ports', () => {
  it('gives a port that can be bound', async () => {
    const port = await freePort();
    const server = await bind(port);
    expect(server.port).toBe(port);
    await server.close();
  });

  it('gives a base with which every port of a stack can be bound at once', async () => {
    const servers = await Promise.all(Object.values(portsFrom(await freePortBase())).map(bind));
    expect(new Set(servers.map((s) => s.port)).size).toBe(Object.keys(portsFrom(0)).length);
    await Promise.all(servers.map((s) => s.close()));
  });

  it('gives another base while one of its ports is taken', async () => {
    const base = await freePortBase();
    const taken = await bind(portsFrom(base).gateway);
    expect(await freePortBase()).not.toBe(base);
    await taken.close();
  });
});
