import type { Duplex } from 'node:stream';
import type { Dialect, ErrorCode } from '@sluice/contracts';
import { STATUS_CODES } from 'node:http';
import { refusalResponse } from './refusal-response.ts';
import { dialectOfPath } from './hot-routes.ts';

/** An error of `node:http` about bytes that are no request. */
export interface WireError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

const CODE: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'duplicate_header',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/**
 * Answers bytes that are no request, then closes: what follows on the connection cannot be trusted.
 *
 * @param busy an answer is already on its way over this connection; anything written now would land inside it.
 */
export function answerWireError(error: WireError, socket: Duplex, requestId: string, busy: boolean): void {
  if (busy || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = CODE[error.code ?? ''] ?? 'bad_request';
  const { status, headers, body } = refusalResponse({ code }, guessDialect(error.rawPacket), requestId);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\ncontent-length: ${body.length}\r\n` +
      `x-request-id: ${requestId}\r\nconnection: close\r\n${lines.join('')}\r\n`,
  );
  socket.end(body);
  lingerThenDestroy(socket);
}

/** The caller may still be sending; cut at once, it would never read the answer. */
function lingerThenDestroy(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), 1_000);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}

function guessDialect(packet: Buffer | undefined): Dialect {
  const target = packet === undefined ? null : /^[A-Z]{3,10} (\/[^\s?]{0,100})/.exec(packet.toString('latin1', 0, 128));
  return dialectOfPath(target?.[1] ?? '');
}
