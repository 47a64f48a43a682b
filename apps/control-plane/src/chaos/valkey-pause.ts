import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProblemError } from '@sluice/service-kit';
import type { ValkeyChaos } from '../api/chaos-part-routes.ts';

const TIMEOUT_MS = 3_000;

/**
 * Makes Valkey or Redis not answer what may write, and so no limit script, by `CLIENT PAUSE … WRITE`: the mode that
 * `CLIENT UNPAUSE` can end. It ends by itself after its time.
 *
 * @param urls `redis://` or `rediss://`, by comma where they are nodes of one cluster.
 */
export function createValkeyPause(urls: string): ValkeyChaos {
  const nodes = urls.split(',').map((url) => new URL(url.trim()));
  const tellAll = async (command: readonly string[]): Promise<void> => {
    await Promise.all(nodes.map((node) => tell(node, command)));
  };
  return {
    pause: (seconds) => tellAll(['CLIENT', 'PAUSE', String(seconds * 1000), 'WRITE']),
    resume: () => tellAll(['CLIENT', 'UNPAUSE']),
  };
}

/** Sends one command on a connection of its own. @throws ProblemError 502 when it is refused or not answered. */
function tell(node: URL, command: readonly string[]): Promise<void> {
  const { password, username } = node;
  const credentials = [username, password].filter((part) => part !== '').map(decodeURIComponent);
  const commands = [...(credentials.length === 0 ? [] : [['AUTH', ...credentials]]), command];
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      socket.destroy();
      reject(new ProblemError(502, 'The shared limit store did not take the order', { detail: why }));
    };
    const address = { host: node.hostname, port: Number(node.port === '' ? 6379 : node.port) };
    const socket: Socket =
      node.protocol === 'rediss:' ? connectTls({ ...address, servername: address.host }) : connectTcp(address);
    socket.setTimeout(TIMEOUT_MS, () => fail('it did not answer'));
    socket.on('error', (error) => fail(error.message));
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
      const lines = answer.split('\r\n').slice(0, -1);
      const refused = lines.find((line) => line.startsWith('-'));
      if (refused !== undefined) fail(refused.slice(1, 200));
      else if (lines.length >= commands.length) {
        socket.end();
        resolve();
      }
    });
    socket.write(
      commands
        .map(
          (parts) =>
            `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`,
        )
        .join(''),
    );
  });
}
