import { startAdminServer } from './admin-server.ts';
import { createMetrics } from './metrics.ts';

describe('startAdminServer', () => {
  it('shows metrics, life and readiness, and 503 with the reason while not ready', async () => {
    const metrics = createMetrics({ service: 's' });
    metrics.counter('a_total', 'a').inc();
    let ready = false;
    const admin = await startAdminServer({
      host: '127.0.0.1',
      port: 0,
      metrics,
      ready: () => ({ ready, detail: { snapshot: 'none yet' } }),
    });
    try {
      expect(await (await fetch(`${admin.url}/metrics`)).text()).toContain('a_total{service="s"} 1');
      expect((await fetch(`${admin.url}/health`)).status).toBe(200);
      const before = await fetch(`${admin.url}/ready`);
      expect([before.status, await before.json()]).toEqual([503, { ready: false, detail: { snapshot: 'none yet' } }]);
      ready = true;
      expect((await fetch(`${admin.url}/ready`)).status).toBe(200);
      expect((await fetch(`${admin.url}/secret`)).status).toBe(404);
      expect((await fetch(`${admin.url}/health`, { method: 'POST' })).status).toBe(405);
    } finally {
      await admin.close();
    }
  });
});
