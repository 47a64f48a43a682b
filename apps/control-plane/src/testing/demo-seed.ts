import { Plan, Provider, SeedFile, type Model } from '@sluice/contracts';

const price = { inputPicoUsd: 1_000_000, outputPicoUsd: 4_000_000 };

/** The key of `acme-prod` in the seed below. */
export const ACME_KEY = `sk-sluice-acmeKey00001-${'a'.repeat(40)}`;

/** A small configuration in which everything is referred to: two tenants, two plans, two providers. */
export function demoSeed(): SeedFile {
  return SeedFile.parse({
    cells: [{ id: 'cell-shared-1', kind: 'shared' }],
    plans: [plan('enterprise', 100, 'high'), plan('free', 10, 'low')],
    tenants: [
      { id: 'acme', name: 'Acme', plan: 'enterprise', limits: {} },
      { id: 'initech', name: 'Initech', plan: 'free', limits: {} },
    ],
    workspaces: [
      { slug: 'acme-prod', uuid: '7b6b7f4e-8a55-4d4e-9d0b-0a3c1d2e3f40', tenant: 'acme' },
      { slug: 'initech-prod', uuid: '7b6b7f4e-8a55-4d4e-9d0b-0a3c1d2e3f41', tenant: 'initech' },
    ],
    providers: [provider('primary', 'openai'), provider('secondary', 'anthropic')],
    models: [model('sim-large'), model('sim-small')],
    keys: [{ keyId: 'acmeKey00001', key: ACME_KEY, workspace: 'acme-prod', name: 'demo' }],
    users: [{ email: 'ada@acme.test', password: 'correct horse', roles: { 'acme-prod': 'admin' } }],
  });
}

function plan(id: string, inFlight: number, priority: string): Plan {
  return Plan.parse({
    id,
    displayName: id,
    policy: {
      limits: { concurrency: { inFlight, queued: inFlight } },
      priority,
      routing: { chain: [{ provider: 'primary' }, { provider: 'secondary' }] },
    },
    tenantLimits: {},
    priceBook: {
      version: 1,
      effectiveFrom: '2026-01-01T00:00:00.000Z',
      prices: { 'sim-large': price, 'sim-small': price },
    },
    allotment: { totalTokens: 1000, feeNanoUsd: 0 },
  });
}

function provider(id: string, dialect: string): Provider {
  return Provider.parse({
    id,
    displayName: id,
    dialect,
    baseUrl: `http://127.0.0.1:9101/${id}`,
    credentials: [{ id: `${id}-1`, slots: 200 }],
  });
}

function model(id: string): Model {
  return {
    id,
    displayName: id,
    contextTokens: 1000,
    maxOutputTokens: 1000,
    abilities: ['chat'],
    tier: 0,
    offers: ['primary', 'secondary'].map((name) => ({ provider: name, providerModel: id, price })),
  };
}
