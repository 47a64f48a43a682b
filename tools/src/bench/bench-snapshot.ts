import { DEFAULT_CELL_ID } from '@sluice/contracts';

const LIMITS = {
  requests: { perSecond: 1_000_000, burst: 1_000_000 },
  tokens: { perMinute: 1_000_000_000_000 },
  concurrency: { inFlight: 10_000, queued: 10_000 },
  quotas: [
    {
      id: 'monthly',
      meter: 'total_tokens',
      span: { kind: 'calendar', period: 'month' },
      limit: 1_000_000_000_000_000,
      mode: 'hard',
    },
  ],
};

export interface BenchKey {
  readonly keyId: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly digest: string;
}

const numbered = (n: number): string => (n === 0 ? 'bench' : `bench-${n}`);
const uuidOf = (n: number): string => `be4c4000-0000-4000-8000-${String(n + 1).padStart(12, '0')}`;

/**
 * A configuration in which every limit is checked at tenant, workspace and key and none is ever reached: a tenant
 * with one workspace for each of `keys`.
 */
export function benchSnapshot(upstream: string, keys: readonly BenchKey[]): unknown {
  const price = { inputPicoUsd: 150_000, outputPicoUsd: 600_000 };
  return {
    version: 1,
    cells: { [DEFAULT_CELL_ID]: { id: DEFAULT_CELL_ID, kind: 'shared' } },
    plans: {
      bench: {
        id: 'bench',
        displayName: 'Bench',
        policy: {
          limits: LIMITS,
          maxPoolSharePercent: 100,
          routing: { chain: [{ provider: 'primary' }, { provider: 'secondary' }] },
        },
        tenantLimits: LIMITS,
        priceBook: {
          version: 1,
          effectiveFrom: '2026-01-01T00:00:00.000Z',
          prices: { 'sim-small': price, 'sim-translated': price },
        },
        allotment: { totalTokens: 0, feeNanoUsd: 0 },
      },
    },
    tenants: Object.fromEntries(
      keys.map((_, n) => [numbered(n), { id: numbered(n), name: 'Bench', plan: 'bench', limits: LIMITS }]),
    ),
    workspaces: Object.fromEntries(
      keys.map((_, n) => [numbered(n), { slug: numbered(n), uuid: uuidOf(n), tenant: numbered(n) }]),
    ),
    keys: Object.fromEntries(
      keys.map(({ keyId, digest }, n) => [
        keyId,
        { keyId, digest, workspace: numbered(n), name: 'bench', createdAt: '2026-01-01T00:00:00.000Z', limits: LIMITS },
      ]),
    ),
    providers: {
      primary: {
        id: 'primary',
        displayName: 'Fast upstream',
        dialect: 'openai',
        baseUrl: `${upstream}/v1`,
        credentials: [{ id: 'main', slots: 10_000 }],
      },
      secondary: {
        id: 'secondary',
        displayName: 'The same, by messages',
        dialect: 'anthropic',
        baseUrl: upstream,
        credentials: [{ id: 'main', slots: 10_000 }],
        carryFields: ['bench'],
      },
    },
    models: {
      'sim-small': {
        id: 'sim-small',
        displayName: 'Bench',
        contextTokens: 128_000,
        maxOutputTokens: 16_000,
        abilities: ['chat'],
        offers: [{ provider: 'primary', providerModel: 'sim-small', price }],
      },
      'sim-translated': {
        id: 'sim-translated',
        displayName: 'Bench, translated',
        contextTokens: 128_000,
        maxOutputTokens: 16_000,
        abilities: ['chat'],
        offers: [{ provider: 'secondary', providerModel: 'sim-translated', price }],
      },
    },
    killSwitches: {},
  };
}
