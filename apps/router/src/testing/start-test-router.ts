import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import { ConfigSnapshot, systemClock, type Clock } from '@sluice/contracts';
import { createLogger, createMetrics, listenOn } from '@sluice/service-kit';
import { compileConfig, type RouterConfig } from '../config/router-config.ts';
import { createRouter, type Router, type RouterDeps } from '../create-router.ts';
import { createMemoryRouterStore } from '../store/memory-router-store.ts';
import type { RouterStore } from '../store/router-store.ts';

export const TOKEN = 'token-of-the-router';
export const KEYS = {
  'acme-prod': 'sk-sluice-acmeKey00001-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'globex-prod': 'sk-sluice-globKey00001-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
} as const;

const silent = createLogger({ service: 'router', level: 'silent' });
const model = (id: string, tier: number, more: object = {}) => ({
  id,
  displayName: id,
  contextTokens: 8_000,
  maxOutputTokens: 4_000,
  abilities: ['chat'],
  tier,
  offers: [{ provider: 'primary', providerModel: id }],
  ...more,
});
const price = (input: number) => ({ inputPicoUsd: input * 1e6, outputPicoUsd: input * 5e6 });

type ChangeRows = (raw: Record<string, Record<string, Record<string, unknown>>>) => void;

/** A configuration of two customers and three models, compiled. `change` may alter its rows before it is read. */
export const testConfig = (change: ChangeRows = () => undefined): RouterConfig =>
  compileConfig(testSnapshot(change), silent);

/** The same as the control plane sends it. */
export function testSnapshot(change: ChangeRows = () => undefined): ConfigSnapshot {
  const key = (keyId: string, workspace: keyof typeof KEYS) => ({
    keyId,
    workspace,
    name: 'test',
    digest: createHash('sha256').update(KEYS[workspace]).digest('hex'),
    createdAt: '2026-01-01T00:00:00.000Z',
  });
  const workspace = (slug: string, tenant: string, n: number) => ({
    slug,
    tenant,
    uuid: `a0c3e000-0000-4000-8000-00000000000${n}`,
  });
  const raw = {
    tenants: {
      acme: { id: 'acme', name: 'Acme', plan: 'p', limits: {} },
      globex: { id: 'globex', name: 'Globex', plan: 'p', limits: {} },
    },
    workspaces: {
      'acme-prod': workspace('acme-prod', 'acme', 1),
      'globex-prod': workspace('globex-prod', 'globex', 2),
    },
    keys: { acmeKey00001: key('acmeKey00001', 'acme-prod'), globKey00001: key('globKey00001', 'globex-prod') },
    plans: {
      p: {
        id: 'p',
        displayName: 'P',
        policy: { limits: {}, routing: { chain: [{ provider: 'primary' }] } },
        tenantLimits: {},
        priceBook: {
          version: 1,
          effectiveFrom: '2026-01-01T00:00:00.000Z',
          prices: { small: price(0.2), medium: price(1), large: price(4) },
        },
        allotment: { totalTokens: 0, feeNanoUsd: 0 },
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
    models: { small: model('small', 0), medium: model('medium', 1), large: model('large', 2) },
    cells: {},
    killSwitches: {},
  };
  change(raw as unknown as Record<string, Record<string, Record<string, unknown>>>);
  return ConfigSnapshot.parse({ version: 1, ...raw });
}

export interface TestRouter {
  readonly router: Router;
  readonly store: RouterStore;
  readonly url: string;
  /** Asks with the service token unless told. */
  call(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>;
  close(): Promise<void>;
}

/** A router on a port of its own, with its state in memory unless told, that ticks only when it is told to. */
export async function startTestRouter(more: Partial<RouterDeps> & { clock?: Clock } = {}): Promise<TestRouter> {
  const config = testConfig();
  const store = more.store ?? createMemoryRouterStore();
  const router = createRouter({
    prepareStore: async () => undefined,
    config: () => config,
    token: TOKEN,
    clock: systemClock,
    logger: silent,
    metrics: createMetrics({ service: 'router' }),
    rewardTimeoutMs: 60_000,
    feedbackWaitMs: 0,
    tenantPerSecond: 1e9,
    ...more,
    store,
  });
  const server = await listenOn(createServer(router.listener), { host: '127.0.0.1', port: 0 });
  return {
    router,
    store,
    url: server.url,
    call: async (method, path, body, token = TOKEN) => {
      const res = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await res.text();
      return {
        status: res.status,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
        headers: res.headers,
      };
    },
    close: async () => {
      await server.close();
      await router.close();
    },
  };
}

export const messages = (text: string) => [{ role: 'user', content: text }];
