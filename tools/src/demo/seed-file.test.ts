import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SeedFile, SIM_MODELS, TOPOLOGY } from '@sluice/contracts';
import { seededTopology } from '../parts/seeded-topology.ts';
import { createSecrets } from '../stack/secrets.ts';
import { DEMO_USERS, DEMO_WORKSPACES, MONTH_WINDOW } from './demo-tenants.ts';
import { buildSeedFile, SIM_SECRET_ENV } from './seed-file.ts';

const urls = {
  primary: 'http://127.0.0.1:9101',
  secondary: 'http://127.0.0.1:9102',
  tertiary: 'http://127.0.0.1:9103',
};

describe('buildSeedFile', () => {
  const seed = buildSeedFile(createSecrets(), urls);

  it('survives the JSON file and still satisfies the contract', () => {
    expect(SeedFile.parse(JSON.parse(JSON.stringify(seed)))).toEqual(seed);
  });

  it('holds the workspaces and people that the rest of the demo knows', () => {
    expect(seed.workspaces.map(({ slug, tenant }) => ({ slug, tenant }))).toEqual(
      DEMO_WORKSPACES.map(({ slug, tenant }) => ({ slug, tenant })),
    );
    expect(seed.users.map(({ email, roles }) => ({ email, roles }))).toEqual(DEMO_USERS);
    expect(seed.providers.flatMap(({ credentials }) => credentials.map(({ secret }) => secret))).toEqual(
      Array.from({ length: 3 }, () => ({ kind: 'env', name: SIM_SECRET_ENV })),
    );
  });

  it('counts the month in the window that verify looks for', () => {
    expect(seed.plans.flatMap(({ tenantLimits }) => tenantLimits.quotas.map(({ id }) => id))).toEqual([
      MONTH_WINDOW,
      MONTH_WINDOW,
      MONTH_WINDOW,
    ]);
  });

  it('refers only to things that it holds', () => {
    const tenants = new Set(seed.tenants.map((tenant) => tenant.id));
    const plans = new Set(seed.plans.map((plan) => plan.id));
    const slugs = new Set(seed.workspaces.map((workspace) => workspace.slug));
    const providers = new Set(seed.providers.map((provider) => provider.id));
    expect(seed.workspaces.every((workspace) => tenants.has(workspace.tenant))).toBe(true);
    expect(seed.tenants.every((tenant) => plans.has(tenant.plan))).toBe(true);
    expect(seed.keys.map((key) => key.workspace).sort()).toEqual([...slugs].sort());
    expect(seed.users.every((user) => Object.keys(user.roles).every((slug) => slugs.has(slug)))).toBe(true);
    expect(seed.models.every((model) => model.offers.every((offer) => providers.has(offer.provider)))).toBe(true);
  });

  it('prices every simulated model, for us and for the customer, above what it costs us', () => {
    expect(seed.models.map((model) => model.id).sort()).toEqual(Object.keys(SIM_MODELS).sort());
    for (const plan of seed.plans) {
      for (const model of seed.models) {
        const billed = plan.priceBook.prices[model.id];
        for (const offer of model.offers)
          expect(billed?.outputPicoUsd).toBeGreaterThan(offer.price?.outputPicoUsd ?? Infinity);
      }
    }
  });

  it('bounds a tenant by the numbers of its plan, at tenant and at workspace level', () => {
    const free = seed.plans.find((plan) => plan.id === 'free');
    expect(seed.tenants.find((tenant) => tenant.id === 'initech')?.limits).toEqual(free?.tenantLimits);
    expect(free?.policy.limits).toEqual(free?.tenantLimits);
    expect(free?.tenantLimits.requests).toEqual({ perSecond: 5, burst: 10 });
    expect(free?.tenantLimits.quotas[0]).toMatchObject({ limit: 20_000_000, mode: 'hard' });
  });

  it('lets the Anthropic provider take the simulator field and stops its base URL before /v1', () => {
    expect(seed.providers.map(({ id, baseUrl }) => [id, baseUrl])).toEqual([
      ['primary', 'http://127.0.0.1:9101/v1'],
      ['secondary', 'http://127.0.0.1:9102'],
      ['tertiary', 'http://127.0.0.1:9103/v1'],
    ]);
    expect(seed.providers.every((provider) => provider.carryFields.includes('sim'))).toBe(true);
  });

  it('exports the audit log of the enterprise tenant only, which gives the declared six queues', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-seed-')), 'seed.json');
    writeFileSync(file, JSON.stringify(seed));
    expect(seededTopology(file)).toEqual(TOPOLOGY);
    rmSync(dirname(file), { recursive: true });
  });

  it('makes other secrets for every stack', () => {
    const other = buildSeedFile(createSecrets(), urls);
    expect(new Set([...seed.keys, ...other.keys].map((key) => key.key)).size).toBe(seed.keys.length * 2);
    expect(new Set([...seed.users, ...other.users].map((user) => user.password)).size).toBe(seed.users.length * 2);
  });
});
