import type { Socket } from 'node:net';

const CONTINUE = /^HTTP\/1\.1 100 [^\r\n]{0,100}\r\n(?:[^\r\n]{1,1000}\r\n){0,20}\r\n/;
const BEGINNING = 'HTTP/1.1 100 ';
const MAX_HEAD_BYTES = 4_096;

/**
 * Takes an unasked `100 Continue` off the beginning of each answer of a connection. RFC 9110 (15.2) has clients
 * ignore it; undici closes the connection instead. An answer begins with the first bytes after something was written:
 * one request is on a connection at a time.
 */
export function skipContinue(socket: Socket): Socket {
  let atBeginning = false;
  let held: Buffer | undefined;
  const { read, write } = socket;
  socket.write = function (this: Socket, ...args: Parameters<Socket['write']>): boolean {
    atBeginning = true;
    return write.apply(this, args);
  } as Socket['write'];
  socket.read = function (this: Socket, size?: number): Buffer | null {
    const chunk = read.call(this, size) as Buffer | null;
    if (chunk === null || !atBeginning) return chunk;
    let bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    let head = headOf(bytes);
    for (let interim = CONTINUE.exec(head); interim !== null; interim = CONTINUE.exec(head)) {
      bytes = bytes.subarray(interim[0].length);
      head = headOf(bytes);
    }
    if (isUnfinished(head)) {
      if (bytes.length > 0) held = bytes;
      return null;
    }
    atBeginning = false;
    return bytes;
  };
  return socket;
}

const headOf = (bytes: Buffer): string => bytes.toString('latin1', 0, MAX_HEAD_BYTES);

/** True for the first part of an interim answer whose end is still to come. */
function isUnfinished(head: string): boolean {
  if (head.length >= MAX_HEAD_BYTES) return false;
  return head.length < BEGINNING.length ? BEGINNING.startsWith(head) : head.startsWith(BEGINNING);
}
