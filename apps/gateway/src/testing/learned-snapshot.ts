import type { RouterSnapshot, SnapshotPolicy } from '@sluice/contracts';
import { DEFAULT_FEATURES, DEFAULT_SETTINGS, untrainedSnapshot } from '@sluice/routing';
import type { RawSnapshot } from './sample-snapshot.ts';

/** Three models of rising price and quality, of which the middle one is proven good enough at a threshold of 0.75. */
export const LEARNED_MODELS = [
  { id: 'sim-small', tier: 0, price: 1_000_000, quality: 0.74 },
  { id: 'sim-medium', tier: 1, price: 4_000_000, quality: 0.8 },
  { id: 'sim-large', tier: 2, price: 20_000_000, quality: 0.86 },
] as const;

/** A policy whose arms know their quality about as well as a few hundred rewards tell. */
export function learnedPolicy(
  version: string,
  settings: Partial<SnapshotPolicy['settings']> = {},
  gamma = 20,
): SnapshotPolicy {
  const dimension = DEFAULT_FEATURES.names.length + 1;
  const arms = LEARNED_MODELS.map(({ id, quality }) => ({
    model: id,
    theta: Array.from({ length: dimension }, (_, i) => (i === 0 ? quality : 0.0001 * i)),
    inverse: Array.from({ length: dimension }, (_, i) =>
      Array.from({ length: dimension }, (_value, j) => (i === j ? 0.00002 : 0)),
    ),
    n: 500,
  }));
  return {
    version,
    settings: { ...DEFAULT_SETTINGS, ...settings },
    features: DEFAULT_FEATURES,
    gamma,
    arms,
    unseen: { theta: new Array<number>(dimension).fill(0), strength: 10 },
  };
}

export function learnedSnapshot(more: Partial<RouterSnapshot> = {}): RouterSnapshot {
  return {
    ...untrainedSnapshot({
      snapshotId: '01JDZZZZZZZZZZZZZZZZZZZZZZ',
      createdAt: '2026-06-01T00:00:00.000Z',
      models: [],
    }),
    control: learnedPolicy('v1'),
    ...more,
  };
}

/** Puts those models into the sample configuration, in the place of what it has. */
export function withLearnedModels(raw: RawSnapshot): void {
  const sample = raw.models['sim-small'] as Record<string, unknown>;
  const prices: Record<string, unknown> = {};
  raw.models = {};
  for (const { id, tier, price } of LEARNED_MODELS) {
    prices[id] = { inputPicoUsd: price, outputPicoUsd: price * 2 };
    raw.models[id] = {
      ...sample,
      id,
      displayName: id,
      tier,
      offers: ['primary', 'secondary'].map((provider) => ({ provider, providerModel: `${id}-up`, price: prices[id] })),
    };
  }
  (raw.plans['team'] as { priceBook: { prices: unknown } }).priceBook.prices = prices;
}
