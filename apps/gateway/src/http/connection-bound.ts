import type { Socket } from 'node:net';
import { networkOf } from '@sluice/service-kit';

export interface ConnectionBound {
  /** Counts a new connection until it closes; false, and it is cut, when its network has as many as it may. */
  admit(socket: Pick<Socket, 'remoteAddress' | 'once' | 'destroy'>): boolean;
  /** Networks with a connection. */
  readonly networks: number;
}

/**
 * Bounds the connections of one network, so that nobody takes all that the process has: a connection that asks for
 * nothing has no key yet that a limit could know it by. An IPv4 address stands for itself, an IPv6 address for its
 * /64.
 *
 * @param perNetwork connections that one network may have.
 */
export function createConnectionBound(perNetwork: number, onRefused: () => void): ConnectionBound {
  const open = new Map<string, number>();
  return {
    get networks() {
      return open.size;
    },
    admit(socket) {
      const network = networkOf(socket.remoteAddress ?? '');
      const count = open.get(network) ?? 0;
      if (count >= perNetwork) {
        onRefused();
        socket.destroy();
        return false;
      }
      open.set(network, count + 1);
      socket.once('close', () => {
        const left = (open.get(network) ?? 1) - 1;
        if (left === 0) open.delete(network);
        else open.set(network, left);
      });
      return true;
    },
  };
}
