import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What is done with the connection once a whole request has come. */
export type Wire = (socket: Socket) => void;

export interface RawUpstream {
  readonly url: string;
  /** Requests that came. */
  readonly requests: number;
  wire: Wire;
  close(): Promise<void>;
}

/** An upstream below HTTP: it reads requests by their length and answers with whatever bytes the test writes. */
export async function startRawUpstream(wire: Wire): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let pending = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      pending += text;
      for (;;) {
        const head = pending.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
        if (head < 0 || pending.length < head + 4 + length) return;
        pending = pending.slice(head + 4 + length);
        requests += 1;
        upstream.wire(socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get requests() {
      return requests;
    },
    wire,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return upstream;
}

/** Writes a head, in latin1, and a body, and leaves the connection open. */
export function answer(head: string, body: Buffer | string = ''): Wire {
  return (socket) => {
    socket.write(Buffer.from(`${head}\r\n\r\n`, 'latin1'));
    socket.write(body);
  };
}

/** A whole answer with its true length. */
export function sized(head: string, body: Buffer | string): Wire {
  return answer(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}`, body);
}

/** Writes, and then closes. */
export function closing(wire: Wire): Wire {
  return (socket) => {
    wire(socket);
    socket.end();
  };
}

/** Writes a text over and over until the connection is closed. */
export function endless(head: string, text: string): Wire {
  return (socket) => {
    socket.write(`${head}\r\n\r\n`);
    const more = (): void => {
      while (!socket.destroyed && socket.write(text));
      if (!socket.destroyed) socket.once('drain', more);
    };
    more();
  };
}

/** Writes every byte by itself. */
export function trickling(bytes: Buffer): Wire {
  return (socket) => {
    socket.setNoDelay(true);
    let at = 0;
    const next = (): void => {
      if (socket.destroyed || at >= bytes.length) return;
      socket.write(bytes.subarray(at, at + 1));
      at += 1;
      setImmediate(next);
    };
    next();
  };
}
