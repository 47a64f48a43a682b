import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KeySpend } from '@sluice/contracts';
import { createFakeClock } from '@sluice/testing';
import { createSpendSource } from './spend.ts';

const SPEND = { calls: 3, input_tokens: 40, output_tokens: 60, billed_nanousd: 1_234 };
const ANSWER: KeySpend = {
  since: '2026-11-01T00:00:00.000Z',
  as_of: '2026-11-30T10:00:00.000Z',
  key: SPEND,
  workspace: { ...SPEND, calls: 9 },
};

async function withPlane(
  status: number,
  body: unknown,
  act: (url: string, asked: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.url} ${req.headers.authorization}`);
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('the spend of a key', () => {
  it('comes from the control plane, at most once in five seconds', async () => {
    await withPlane(200, ANSWER, async (url, asked) => {
      const clock = createFakeClock(0);
      const source = createSpendSource({ url, token: 't', clock });
      expect(await Promise.all([source.of('k1'), source.of('k1')])).toEqual([ANSWER, ANSWER]);
      clock.advance(4_999);
      await source.of('k1');
      expect(asked).toEqual(['/internal/keys/k1/spend Bearer t']);
      clock.advance(1);
      await source.of('k1');
      expect(asked).toHaveLength(2);
      await source.close();
    });
  });

  it.each([
    ['refuses', 404, {}],
    ['answers what is not a spend', 200, { since: 'never' }],
  ])('is not known while the control plane %s', async (_what, status, body) => {
    await withPlane(status, body, async (url) => {
      const source = createSpendSource({ url, token: 't', clock: createFakeClock(0) });
      expect(await source.of('k1')).toBeUndefined();
      await source.close();
    });
  });

  it('is not known while the control plane is down', async () => {
    const source = createSpendSource({ url: 'http://127.0.0.1:1', token: 't', clock: createFakeClock(0) });
    expect(await source.of('k1')).toBeUndefined();
    await source.close();
  });
});
