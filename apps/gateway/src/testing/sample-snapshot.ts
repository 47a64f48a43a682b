import { createHash } from 'node:crypto';
import { ConfigSnapshot } from '@sluice/contracts';

/** Keys of the sample configuration, in the clear. */
export const SAMPLE_KEYS = {
  acme: 'sk-sluice-acmekey001-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  globex: 'sk-sluice-globexkey01-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
  expired: 'sk-sluice-expiredkey1-cccccccccccccccccccccccccccccccc',
  elsewhere: 'sk-sluice-elsewhere01-dddddddddddddddddddddddddddddddd',
  fenced: 'sk-sluice-fencedkey01-eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
  narrow: 'sk-sluice-narrowkey01-ffffffffffffffffffffffffffffffff',
} as const;

const LIMITS = { requests: { perSecond: 100, burst: 100 }, quotas: [] };
const PRICE = { inputPicoUsd: 1_000_000, outputPicoUsd: 2_000_000 };

function key(text: string, workspace: string, more: object = {}) {
  const keyId = text.split('-')[2] as string;
  return {
    keyId,
    digest: createHash('sha256').update(text).digest('hex'),
    workspace,
    name: keyId,
    createdAt: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}

function model(id: string, more: object = {}) {
  return {
    id,
    displayName: id,
    contextTokens: 100_000,
    maxOutputTokens: 8_000,
    abilities: ['chat'],
    offers: [
      { provider: 'primary', providerModel: `${id}-v1`, price: PRICE },
      { provider: 'secondary', providerModel: id, price: PRICE },
    ],
    ...more,
  };
}

function workspace(slug: string, tenant: string, digit: string, more: object = {}) {
  return { slug, uuid: `00000000-0000-4000-8000-00000000000${digit}`, tenant, ...more };
}

/** A small valid configuration as the control plane would send it. `change` edits the raw value before it is parsed. */
export function sampleSnapshot(change: (raw: RawSnapshot) => void = () => undefined): ConfigSnapshot {
  const raw = rawSnapshot();
  change(raw);
  return ConfigSnapshot.parse(raw);
}

type Rows = Record<string, Record<string, unknown>>;
export type RawSnapshot = { version: number } & Record<
  'tenants' | 'workspaces' | 'keys' | 'plans' | 'providers' | 'models' | 'cells' | 'killSwitches',
  Rows
>;

export function rawSnapshot(): RawSnapshot {
  const models = [
    model('sim-small'),
    model('sim-large'),
    model('unpriced'),
    model('old-model', { retirement: { at: '2026-01-01T00:00:00.000Z', successor: 'sim-small' } }),
    model('embedder', { abilities: ['embeddings'] }),
  ];
  const provider = (id: string, dialect: string) => ({
    id,
    displayName: id,
    dialect,
    baseUrl: 'http://127.0.0.1:1/v1',
    credentials: [{ id: 'default', slots: 10 }],
  });
  const routing = {
    chain: [{ provider: 'primary' }, { provider: 'secondary' }],
    aliases: { fast: 'sim-small' },
    features: { summary: { model: 'sim-large' } },
  };
  const keys = [
    key(SAMPLE_KEYS.acme, 'acme-prod', { tags: { team: 'search' } }),
    key(SAMPLE_KEYS.globex, 'globex-prod'),
    key(SAMPLE_KEYS.expired, 'acme-prod', { expiresAt: '2026-01-02T00:00:00.000Z' }),
    key(SAMPLE_KEYS.elsewhere, 'far-away'),
    key(SAMPLE_KEYS.fenced, 'acme-prod', { allowAddresses: ['10.0.0.0/8'] }),
    key(SAMPLE_KEYS.narrow, 'acme-prod', { allowModels: ['sim-large'], limits: { quotas: [] } }),
  ];
  return structuredClone({
    version: 7,
    cells: byId([
      { id: 'cell-shared-1', kind: 'shared' },
      { id: 'cell-2', kind: 'shared' },
    ]),
    plans: byId([
      {
        id: 'team',
        displayName: 'Team',
        policy: { limits: LIMITS, routing },
        tenantLimits: LIMITS,
        priceBook: {
          version: 3,
          effectiveFrom: '2026-01-01T00:00:00.000Z',
          prices: { 'sim-small': PRICE, 'sim-large': PRICE, 'old-model': PRICE, embedder: PRICE },
        },
        allotment: { totalTokens: 0, feeNanoUsd: 0 },
      },
    ]),
    tenants: byId(['acme', 'globex'].map((id) => ({ id, name: id, plan: 'team', limits: { quotas: [] } }))),
    workspaces: byKey('slug', [
      workspace('acme-prod', 'acme', '1'),
      workspace('globex-prod', 'globex', '2'),
      workspace('far-away', 'globex', '3', { cellId: 'cell-2' }),
    ]),
    keys: byKey('keyId', keys),
    providers: byId([provider('primary', 'openai'), provider('secondary', 'anthropic')]),
    models: byId(models),
    killSwitches: {},
  }) as RawSnapshot;
}

function byId<Row extends { id: string }>(rows: Row[]): Rows {
  return byKey('id', rows);
}

function byKey(field: string, rows: object[]): Rows {
  return Object.fromEntries(rows.map((row) => [(row as Record<string, string>)[field] as string, { ...row }])) as Rows;
}
