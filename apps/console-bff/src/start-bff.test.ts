import { portsFrom } from '@sluice/contracts';
import { createLogger } from '@sluice/service-kit';
import { freePortBase, rawRequest } from '@sluice/testing';
import { startBff } from './start-bff.ts';

const logger = createLogger({ service: 'console-bff', level: 'silent' });

describe('startBff', () => {
  it('serves on the ports of its stack, under loopback names only', async () => {
    const base = await freePortBase();
    const port = portsFrom(base).consoleBff;
    const bff = await startBff({
      env: { SLUICE_PORT_BASE: String(base), SLUICE_TOKEN_BFF: 't'.repeat(16), SLUICE_PRINCIPAL_KEY: 'k'.repeat(16) },
      logger,
    });
    try {
      expect((await fetch(`http://localhost:${port}/health`)).status).toBe(200);
      expect((await rawRequest(port, 'GET /health HTTP/1.1\r\nhost: rebound.evil.test\r\n\r\n')).status).toBe(421);
      expect((await fetch(`http://127.0.0.1:${portsFrom(base).consoleBffAdmin}/metrics`)).status).toBe(200);
    } finally {
      await bff.close();
    }
  });

  it('does not start without its secrets, and names both', async () => {
    await expect(startBff({ env: { SLUICE_TOKEN_BFF: 'short' }, logger })).rejects.toThrow(
      /SLUICE_TOKEN_BFF is not valid.*SLUICE_PRINCIPAL_KEY is not set/,
    );
  });
});
