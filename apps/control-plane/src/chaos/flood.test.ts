import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFlood } from './flood.ts';

describe('a flood', () => {
  it("calls the gateway with the tenant's key, short and long answers mixed, until it is stopped", async () => {
    const sizes = new Set<number>();
    const keys = new Set<string | undefined>();
    let enough: () => void = () => undefined;
    const allSizesSeen = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const server = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        sizes.add((JSON.parse(body) as { sim: { output_tokens: number } }).sim.output_tokens);
        keys.add(req.headers.authorization);
        res.writeHead(429).end('{}');
        if (sizes.size === 3) enough();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const flood = startFlood({ gatewayUrl: `http://127.0.0.1:${port}`, key: 'k', rps: 500 });
    // The driver's timer does not hold the process; the open server does.
    await allSizesSeen;
    flood.stop();
    const { sent } = flood.counts;
    expect(sent).toBeGreaterThanOrEqual(10);
    expect([...keys]).toEqual(['Bearer k']);
    expect([...sizes].sort((a, b) => a - b)).toEqual([20, 400, 1000]);
    await new Promise<void>((resolve) => server.close(() => resolve()));
    expect(flood.counts.sent).toBe(sent);
  });
});
