import { createServer } from 'node:http';
import { Pool } from 'undici';

/**
 * The baseline of the benchmarks: `node:http` in front, undici's `dispatch` behind, nothing else. It reads the
 * whole body, as the gateway must, and forwards the bytes.
 *
 * Environment: PORT, UPSTREAM (origin).
 */
const pool = new Pool(process.env['UPSTREAM'] ?? '', { connections: 2048, pipelining: 1 });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    pool.dispatch(
      { method: 'POST', path: request.url ?? '/', headers: ['content-type', 'application/json'], body },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, headers) {
          const length = headers['content-length'];
          response.writeHead(statusCode, {
            'content-type': String(headers['content-type']),
            ...(length !== undefined && { 'content-length': String(length) }),
          });
        },
        onResponseData(_controller, chunk) {
          response.write(chunk);
        },
        onResponseEnd() {
          response.end();
        },
        onResponseError() {
          if (!response.headersSent) response.writeHead(502);
          response.end();
        },
      },
    );
  });
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
