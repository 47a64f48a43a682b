import { DEFAULT_CELL_ID, SIM_PROVIDERS, SIM_SLOTS, SeedFile, type Price } from '@sluice/contracts';
import type { StackSecrets } from '../stack/secrets.ts';
import { DEMO_PLANS, DEMO_TENANTS, DEMO_USERS, DEMO_WORKSPACES, planLimits } from './demo-tenants.ts';

/** Dollars per million tokens, as whole picodollars per token. */
const perMillion = (usd: number): number => Math.round(usd * 1_000_000);

interface DemoModel {
  readonly id: string;
  readonly displayName: string;
  readonly tier: number;
  /** What a provider charges: like a frontier, a mid and a small model. */
  readonly cost: Price;
  /** What customers are billed. */
  readonly billed: Price;
}

const DEMO_MODELS: readonly DemoModel[] = [
  {
    id: 'sim-large', displayName: 'Simulated large', tier: 2,
    cost: { inputPicoUsd: perMillion(3), outputPicoUsd: perMillion(15), cacheReadPicoUsd: perMillion(0.3) },
    billed: { inputPicoUsd: perMillion(4), outputPicoUsd: perMillion(20), cacheReadPicoUsd: perMillion(0.4) },
  },
  {
    id: 'sim-medium', displayName: 'Simulated medium', tier: 1,
    cost: { inputPicoUsd: perMillion(0.8), outputPicoUsd: perMillion(4), cacheReadPicoUsd: perMillion(0.08) },
    billed: { inputPicoUsd: perMillion(1), outputPicoUsd: perMillion(5), cacheReadPicoUsd: perMillion(0.1) },
  },
  {
    id: 'sim-small', displayName: 'Simulated small', tier: 0,
    cost: { inputPicoUsd: perMillion(0.15), outputPicoUsd: perMillion(0.6), cacheReadPicoUsd: perMillion(0.075) },
    billed: { inputPicoUsd: perMillion(0.2), outputPicoUsd: perMillion(0.8), cacheReadPicoUsd: perMillion(0.1) },
  },
];

/** Anthropic's base URL stops before `/v1`, OpenAI's holds it. */
export interface SimUrls {
  readonly primary: string;
  readonly secondary: string;
  readonly tertiary: string;
}

/** Where the gateway finds the token that the simulated providers want; any text will do. */
export const SIM_SECRET_ENV = 'SLUICE_SECRET_SIM';

const CHAIN = ['primary', 'secondary', 'tertiary'] as const;

/**
 * What an empty control plane of the demo starts from.
 *
 * @param urls origins of the simulated providers.
 * @throws ZodError when the demo's numbers do not fit the contracts.
 */
export function buildSeedFile(secrets: Pick<StackSecrets, 'keys' | 'passwords'>, urls: SimUrls): SeedFile {
  const prices = Object.fromEntries(DEMO_MODELS.map((model) => [model.id, model.billed]));
  return SeedFile.parse({
    cells: [{ id: DEFAULT_CELL_ID, kind: 'shared' }],
    plans: DEMO_PLANS.map((plan) => ({
      id: plan.id,
      displayName: plan.displayName,
      policy: {
        limits: planLimits(plan),
        priority: plan.priority,
        auditExport: plan.auditExport,
        routing: { chain: CHAIN.map((provider) => ({ provider })) },
      },
      tenantLimits: planLimits(plan),
      priceBook: { version: 1, effectiveFrom: '2026-01-01T00:00:00.000Z', prices },
      allotment: {
        totalTokens: plan.monthlyTokens,
        feeNanoUsd: plan.feeUsd * 1_000_000_000,
        ...(plan.overage === undefined ? {} : { overage: { picoUsdPerToken: perMillion(plan.overage.usdPerMillion), capNanoUsd: plan.overage.capUsd * 1_000_000_000 } }),
      },
    })),
    tenants: DEMO_TENANTS.map((tenant) => ({ ...tenant, limits: tenantLimits(tenant.plan) })),
    workspaces: DEMO_WORKSPACES.map((workspace) => ({ ...workspace })),
    providers: CHAIN.map((id) => ({
      id,
      displayName: `Simulated ${id}`,
      dialect: SIM_PROVIDERS[id],
      baseUrl: SIM_PROVIDERS[id] === 'anthropic' ? urls[id] : `${urls[id]}/v1`,
      credentials: [{ id: `${id}-shared`, slots: SIM_SLOTS, secret: { kind: 'env', name: SIM_SECRET_ENV } }],
      carryFields: ['sim'],
    })),
    models: DEMO_MODELS.map((model) => ({
      id: model.id,
      displayName: model.displayName,
      contextTokens: 128_000,
      maxOutputTokens: 16_000,
      abilities: ['chat', 'tools', 'json'],
      tier: model.tier,
      offers: CHAIN.map((provider) => ({ provider, providerModel: model.id, price: model.cost })),
    })),
    keys: DEMO_WORKSPACES.map(({ slug }) => {
      const key = secrets.keys[slug];
      if (key === undefined) throw new Error(`there is no demo key for ${slug}`);
      return { ...key, workspace: slug, name: 'Demo key' };
    }),
    users: DEMO_USERS.map((user) => ({ email: user.email, password: secrets.passwords[user.email], roles: user.roles })),
  });
}

function tenantLimits(planId: string) {
  const plan = DEMO_PLANS.find((candidate) => candidate.id === planId);
  if (plan === undefined) throw new Error(`there is no demo plan ${planId}`);
  return planLimits(plan);
}
