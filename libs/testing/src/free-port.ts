import { createServer, type AddressInfo } from 'node:net';
import { DEFAULT_PORTS, HIGHEST_PORT_BASE, portsFrom } from '@sluice/contracts';

/** Tries to bind one port on 127.0.0.1; gives the bound port, or undefined when it is taken. */
function tryBind(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const bound = (server.address() as AddressInfo).port;
      server.close(() => resolve(bound));
    });
  });
}

/** A port that was free a moment ago. Prefer port 0 where the server can tell what it got. */
export async function freePort(): Promise<number> {
  const port = await tryBind(0);
  if (port === undefined) throw new Error('the system gave no port');
  return port;
}

/** The usual end of the range from which the kernel takes ports for outgoing connections. */
const LAST_EPHEMERAL = 60_999;
/**
 * Puts the highest default (PostgreSQL's) above that range and leaves all others below it: a port inside it that is
 * free now may belong to somebody's connection a moment later.
 */
const LOWEST_BASE = LAST_EPHEMERAL + 1 - Math.max(...Object.values(DEFAULT_PORTS));

/**
 * A `SLUICE_PORT_BASE` with which every port of a stack was free a moment ago. Starts at a place of
 * the process's own, so that parallel test processes rarely meet.
 *
 * @throws Error when none of 200 tries finds one.
 */
export async function freePortBase(): Promise<number> {
  const span = HIGHEST_PORT_BASE - LOWEST_BASE + 1;
  for (let tries = 0; tries < 200; tries++) {
    const base = LOWEST_BASE + ((process.pid * 97 + tries * 131) % span);
    if (await allFree(Object.values(portsFrom(base)))) return base;
  }
  throw new Error('found no port base with every port of a stack free');
}

async function allFree(ports: number[]): Promise<boolean> {
  for (const port of ports) if ((await tryBind(port)) === undefined) return false;
  return true;
}
