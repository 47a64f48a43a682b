import { createHash } from 'node:crypto';
import {
  ConfigSnapshot,
  DEFAULT_CELL_ID,
  type Limits,
  type Policy,
  portsFrom,
  Policy as PolicySchema,
} from '@sluice/contracts';

type PolicyInput = Partial<Policy>;

export interface FixtureWorkspace {
  readonly tenant: string;
  readonly slug: string;
  /** Limits of the tenant. */
  readonly tenantLimits?: Partial<Limits>;
  /** Laid over an unlimited policy whose chain is primary, secondary, tertiary. */
  readonly policy?: PolicyInput;
  readonly keyLimits?: Partial<Limits>;
}

/** The key of a fixture workspace: known, so that tests need not read it from anywhere. */
export function keyOf(slug: string): string {
  const id = slug
    .replace(/[^a-z0-9]/g, '')
    .padEnd(12, '0')
    .slice(0, 12);
  return `sk-sluice-${id}-${'s3cret'.repeat(5)}`;
}

export const keyIdOf = (slug: string): string => keyOf(slug).split('-')[2] as string;

const limits = (given: Partial<Limits> | undefined): Limits => ({ quotas: [], ...given });

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Prices of the fixture, picodollars per token. */
export const FIXTURE_PRICE = { inputPicoUsd: 1_000_000, outputPicoUsd: 4_000_000, cacheReadPicoUsd: 100_000 } as const;

/** A valid configuration with the three simulated providers of a stack at this port base. */
export function fixtureSnapshot(
  portBase: number,
  workspaces: readonly FixtureWorkspace[],
  slots = 200,
): ConfigSnapshot {
  const ports = portsFrom(portBase);
  const models = ['sim-large', 'sim-medium', 'sim-small'];
  const basePolicy = PolicySchema.parse({
    limits: { quotas: [] },
    routing: { chain: [{ provider: 'primary' }, { provider: 'secondary' }, { provider: 'tertiary' }] },
  });
  const provider = (id: string, dialect: 'openai' | 'anthropic', port: number) => ({
    id,
    displayName: id,
    dialect,
    baseUrl: `http://127.0.0.1:${port}${dialect === 'openai' ? '/v1' : ''}`,
    region: 'local',
    credentials: [{ id: 'main', slots, weight: 1, secret: { kind: 'env', name: 'SLUICE_SECRET_SIM' } }],
    carryFields: ['sim'],
  });
  return ConfigSnapshot.parse({
    version: 1,
    cells: { [DEFAULT_CELL_ID]: { id: DEFAULT_CELL_ID, kind: 'shared' } },
    plans: Object.fromEntries(
      workspaces.map((workspace) => [
        `plan-${workspace.slug}`,
        {
          id: `plan-${workspace.slug}`,
          displayName: 'Fixture',
          policy: PolicySchema.parse({ ...basePolicy, ...workspace.policy, limits: limits(workspace.policy?.limits) }),
          tenantLimits: limits(undefined),
          priceBook: {
            version: 1,
            effectiveFrom: '2026-01-01T00:00:00.000Z',
            prices: Object.fromEntries(models.map((model) => [model, FIXTURE_PRICE])),
          },
          allotment: { totalTokens: 0, feeNanoUsd: 0 },
        },
      ]),
    ),
    tenants: Object.fromEntries(
      workspaces.map(({ tenant, slug, tenantLimits }) => [
        tenant,
        { id: tenant, name: tenant, plan: `plan-${slug}`, limits: limits(tenantLimits) },
      ]),
    ),
    workspaces: Object.fromEntries(workspaces.map(({ tenant, slug }) => [slug, { slug, uuid: uuidOf(slug), tenant }])),
    keys: Object.fromEntries(
      workspaces.map(({ slug, keyLimits }) => [
        keyIdOf(slug),
        {
          keyId: keyIdOf(slug),
          digest: createHash('sha256').update(keyOf(slug)).digest('hex'),
          workspace: slug,
          name: 'test',
          createdAt: '2026-01-01T00:00:00.000Z',
          ...(keyLimits === undefined ? {} : { limits: limits(keyLimits) }),
        },
      ]),
    ),
    providers: {
      primary: provider('primary', 'openai', ports.simPrimary),
      secondary: provider('secondary', 'anthropic', ports.simSecondary),
      tertiary: provider('tertiary', 'openai', ports.simTertiary),
    },
    models: Object.fromEntries(
      models.map((id, tier) => [
        id,
        {
          id,
          displayName: id,
          contextTokens: 128_000,
          maxOutputTokens: 100_000,
          abilities: ['chat', 'tools', 'embeddings', 'images', 'json'],
          tier: 2 - tier,
          offers: ['primary', 'secondary', 'tertiary'].map((name) => ({
            provider: name,
            providerModel: id,
            price: FIXTURE_PRICE,
          })),
        },
      ]),
    ),
    killSwitches: {},
  });
}
