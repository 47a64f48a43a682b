import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rawRequest } from './raw-request.ts';

let server: Server;
let port = 0;
beforeEach(async () => {
  server = createServer((req, res) => {
    if (req.url === '/chunked') {
      res.write('grün ');
      res.end('und rot');
    } else if (req.url === '/hang') return;
    else if (req.url === '/cut') res.destroy();
    else res.end(`${req.method} ${req.headers['x-a'] ?? ''}`);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('rawRequest', () => {
  it('sends the bytes as they are and reads the answer on a connection that stays open', async () => {
    const answer = await rawRequest(port, 'GET / HTTP/1.1\r\nHost: x\r\nx-a: 1\r\nx-a: 2\r\n\r\n');
    expect(answer).toMatchObject({ status: 200, body: 'GET 1, 2' });
  });

  it('undoes chunked encoding', async () => {
    const answer = await rawRequest(port, 'GET /chunked HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(answer).toMatchObject({ status: 200, headers: { 'transfer-encoding': 'chunked' }, body: 'grün und rot' });
  });

  it('shows the refusal of a malformed request', async () => {
    expect((await rawRequest(port, 'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n')).status).toBe(400);
  });

  it('has status 0 when the server hangs up', async () => {
    expect(await rawRequest(port, 'GET /cut HTTP/1.1\r\nHost: x\r\n\r\n')).toEqual({
      status: 0,
      headers: {},
      body: '',
    });
  });

  it('gives up when no answer comes', async () => {
    await expect(rawRequest(port, 'GET /hang HTTP/1.1\r\nHost: x\r\n\r\n', { timeoutMs: 20 })).rejects.toThrow(
      'no whole answer in 20 ms',
    );
  });
});
