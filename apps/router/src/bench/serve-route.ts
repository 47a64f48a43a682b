import { createServer } from 'node:http';
import { ConfigSnapshot, systemClock } from '@sluice/contracts';
import { createLogger, createMetrics, listenOn } from '@sluice/service-kit';
import { compileConfig } from '../config/router-config.ts';
import { createRouter } from '../create-router.ts';
import { createMemoryRouterStore } from '../store/memory-router-store.ts';
import { createRouterPool, migrateRouter } from '../store/open-router-database.ts';
import { createPostgresRouterStore } from '../store/postgres-router-store.ts';

/**
 * A router of nine models for measurements, on PORT, with the service token ROUTE_TOKEN. Decisions are logged, to
 * PostgreSQL with ROUTE_DATABASE_URL, else in memory.
 */
const MODELS = 9;
const logger = createLogger({ service: 'router', level: 'warn' });
const names = Array.from({ length: MODELS }, (_, i) => `model-${i + 1}`);
const price = (i: number) => ({ inputPicoUsd: 200_000 * (i + 1), outputPicoUsd: 1_000_000 * (i + 1) });
const config = compileConfig(
  ConfigSnapshot.parse({
    version: 1,
    tenants: { acme: { id: 'acme', name: 'Acme', plan: 'p', limits: {} } },
    workspaces: { 'acme-prod': { slug: 'acme-prod', tenant: 'acme', uuid: 'a0c3e000-0000-4000-8000-000000000001' } },
    keys: {},
    plans: {
      p: {
        id: 'p',
        displayName: 'P',
        policy: { limits: {}, routing: { chain: [{ provider: 'primary' }] } },
        tenantLimits: {},
        allotment: { totalTokens: 0, feeNanoUsd: 0 },
        priceBook: {
          version: 1,
          effectiveFrom: '2026-01-01T00:00:00.000Z',
          prices: Object.fromEntries(names.map((name, i) => [name, price(i)])),
        },
      },
    },
    providers: {
      primary: {
        id: 'primary',
        displayName: 'Primary',
        dialect: 'openai',
        baseUrl: 'http://127.0.0.1:1',
        credentials: [{ id: 'main', slots: 1 }],
      },
    },
    models: Object.fromEntries(
      names.map((id, i) => [
        id,
        {
          id,
          displayName: id,
          contextTokens: 100_000,
          maxOutputTokens: 4_000,
          abilities: ['chat'],
          tier: i % 3,
          offers: [{ provider: 'primary', providerModel: id }],
        },
      ]),
    ),
    cells: {},
    killSwitches: {},
  }),
  logger,
);
const url = process.env['ROUTE_DATABASE_URL'];
const pool = url === undefined ? undefined : createRouterPool(url, logger);
const router = createRouter({
  store: pool === undefined ? createMemoryRouterStore({ maxDecisions: 20_000 }) : createPostgresRouterStore(pool),
  prepareStore: () => (pool === undefined ? Promise.resolve() : migrateRouter(pool)),
  config: () => config,
  token: process.env['ROUTE_TOKEN'] ?? '',
  clock: systemClock,
  logger,
  metrics: createMetrics({ service: 'router' }),
  rewardTimeoutMs: 86_400_000,
  tenantPerSecond: 1e9,
});
await router.loaded;
await router.tick();
setInterval(() => void router.tick(), 1_000);
await listenOn(createServer(router.listener), { host: '127.0.0.1', port: Number(process.env['PORT']) });
