import { connect } from 'node:net';
import { PATIENCE_MS } from './eventually.ts';

export interface RawResponse {
  /** 0 when the server closed the connection without an answer. */
  status: number;
  /** Names in lower case; a header sent twice has both values, joined by `, `. */
  headers: Record<string, string>;
  /** As it came; chunked encoding is undone. */
  body: string;
}

export interface RawOptions {
  host?: string;
  /** Default `PATIENCE_MS`. */
  timeoutMs?: number;
  /** Ends our side after the bytes. Default false: a server may take that as an abort. */
  endAfterWrite?: boolean;
}

/**
 * Sends exactly these bytes to a server and reads one answer, for requests that no HTTP client would send.
 *
 * @throws Error when no whole answer came in time.
 */
export function rawRequest(port: number, bytes: string | Uint8Array, options: RawOptions = {}): Promise<RawResponse> {
  const { host = '127.0.0.1', timeoutMs = PATIENCE_MS, endAfterWrite = false } = options;
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    let received = Buffer.alloc(0);
    const late = setTimeout(
      () =>
        finish(() =>
          reject(
            new Error(
              `no whole answer in ${timeoutMs} ms; got ${JSON.stringify(received.toString('latin1').slice(0, 200))}`,
            ),
          ),
        ),
      timeoutMs,
    );

    function finish(settle: () => void): void {
      clearTimeout(late);
      socket.destroy();
      settle();
    }

    socket.on('connect', () => (endAfterWrite ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const answer = parseResponse(received, false);
      if (answer !== undefined) finish(() => resolve(answer));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') finish(() => reject(error));
    });
    socket.on('close', () =>
      finish(() => resolve(parseResponse(received, true) ?? { status: 0, headers: {}, body: '' })),
    );
  });
}

/** The answer in `received`, or undefined while it is not complete. At the end of the connection, what came is all. */
function parseResponse(received: Buffer, ended: boolean): RawResponse | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const rest = received.subarray(headEnd + 4);
  if (status >= 100 && status < 200) return parseResponse(rest, ended);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const body = readBody(rest, headers, status, ended);
  return body === undefined ? undefined : { status, headers, body };
}

function readBody(rest: Buffer, headers: Record<string, string>, status: number, ended: boolean): string | undefined {
  if (status === 204 || status === 304) return '';
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return readChunked(rest, ended);
  const length = headers['content-length'];
  if (length !== undefined && rest.length >= Number(length)) return rest.toString('utf8', 0, Number(length));
  return ended ? rest.toString('utf8') : undefined;
}

function readChunked(rest: Buffer, ended: boolean): string | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    if (size === 0) return Buffer.concat(parts).toString('utf8');
    if (Number.isNaN(size) || rest.length < lineEnd + 2 + size)
      return ended ? Buffer.concat(parts).toString('utf8') : undefined;
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 4 + size;
  }
}
