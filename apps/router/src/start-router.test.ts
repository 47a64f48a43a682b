import { portsFrom } from '@sluice/contracts';
import { createLogger } from '@sluice/service-kit';
import { freePortBase } from '@sluice/testing';
import { startRouter } from './start-router.ts';

const logger = createLogger({ service: 'router', level: 'silent' });

describe('startRouter', () => {
  it('serves on the ports of its stack and frees them', async () => {
    const base = await freePortBase();
    const env = { SLUICE_PORT_BASE: String(base), SLUICE_TOKEN_ROUTER: 'token-of-the-router' };
    for (let round = 0; round < 2; round++) {
      const router = await startRouter({ env, logger });
      expect(router.url).toBe(`http://127.0.0.1:${portsFrom(base).router}`);
      expect((await fetch(`http://127.0.0.1:${portsFrom(base).routerAdmin}/ready`)).status).toBe(200);
      await router.close();
    }
  });

  it('does not start without its token', async () => {
    await expect(startRouter({ env: {}, logger })).rejects.toThrow('SLUICE_TOKEN_ROUTER is not set.');
  });
});
