import { portsFrom } from '@sluice/contracts';
import { createLogger } from '@sluice/service-kit';
import { freePortBase } from '@sluice/testing';
import { startRouter } from './start-router.ts';

const logger = createLogger({ service: 'router', level: 'silent' });

/** The second round has the same port: no connection of the first may be used again. */
const FRESH = { headers: { connection: 'close' } };

describe('startRouter', () => {
  it('serves on the ports of its stack, without a spine too, says what it consumes, and frees them', async () => {
    const base = await freePortBase();
    const env = {
      SLUICE_PORT_BASE: String(base),
      SLUICE_TOKEN_ROUTER: 'token-of-the-router',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    };
    for (let round = 0; round < 2; round++) {
      const router = await startRouter({ env, logger });
      try {
        expect(router.url).toBe(`http://127.0.0.1:${portsFrom(base).router}`);
        const ready = await fetch(`http://127.0.0.1:${portsFrom(base).routerAdmin}/ready`, FRESH);
        // It has no control plane here, so it knows no workspace that it could decide for.
        expect([ready.status, await ready.json()]).toEqual([
          503,
          {
            ready: false,
            detail: expect.objectContaining({
              store: 'memory',
              configured: false,
              consumes: [
                { queue: 'router-usage', retry_budget: 3 },
                { queue: 'router-anomaly', retry_budget: 3 },
              ],
              spine_faults: null,
            }),
          },
        ]);
        expect((await fetch(`${router.url}/health`, FRESH)).status).toBe(200);
      } finally {
        await router.close();
      }
    }
  });

  it('does not start without its token', async () => {
    await expect(startRouter({ env: {}, logger })).rejects.toThrow('SLUICE_TOKEN_ROUTER is not set.');
  });
});
