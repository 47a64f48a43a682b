import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@sluice/testing';
import { startGateway } from '../testing/gateway-under-test.ts';
import { networkOf } from '@sluice/service-kit';
import { createConnectionBound } from './connection-bound.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  destroyed = false;
  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }
  destroy(): this {
    this.destroyed = true;
    return this;
  }
}

describe('connections of one network', () => {
  it('are cut beyond the bound, and others are taken', () => {
    let refused = 0;
    const bound = createConnectionBound(2, () => (refused += 1));
    const admit = (address: string) => {
      const socket = new FakeSocket(address);
      return { socket, admitted: bound.admit(socket as never) };
    };
    const first = admit('192.0.2.1');
    expect(admit('192.0.2.1').admitted).toBe(true);
    const third = admit('192.0.2.1');
    expect([third.admitted, third.socket.destroyed, refused]).toEqual([false, true, 1]);
    expect(admit('192.0.2.2').admitted).toBe(true);
    first.socket.emit('close');
    expect(admit('192.0.2.1').admitted).toBe(true);
  });

  it('are forgotten when the last is closed', () => {
    const bound = createConnectionBound(2, () => undefined);
    const sockets = ['192.0.2.1', '192.0.2.1', '2001:db8::1'].map((address) => new FakeSocket(address));
    for (const socket of sockets) bound.admit(socket as never);
    expect(bound.networks).toBe(2);
    for (const socket of sockets) socket.emit('close');
    expect(bound.networks).toBe(0);
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('%s stands for %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('are bounded at the door of the gateway', async () => {
    const gateway = await startGateway({ primary: 'http://127.0.0.1:9/v1', connectionsPerNetwork: 2 });
    const sockets = [1, 2].map(() => connect(gateway.port, '127.0.0.1'));
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      const third = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      await once(third, 'close');
      sockets[0]?.destroy();
      await eventually(async () =>
        expect((await fetch(`${gateway.url}/v1/chat/completions`, { headers: { connection: 'close' } })).status).toBe(
          405,
        ),
      );
    } finally {
      for (const socket of sockets) socket.destroy();
      await gateway.close();
    }
  });
});
