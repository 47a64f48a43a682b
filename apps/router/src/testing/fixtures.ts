import {
  compileSnapshot,
  decideFromSnapshot,
  textFeatures,
  untrainedSnapshot,
  type SnapshotRequest,
} from '@sluice/routing';
import type { RouteDecision } from '@sluice/contracts';
import type { DecisionRow } from '../store/router-store.ts';

export const AT_MS = Date.UTC(2026, 5, 1);
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The n-th ULID of the tests. */
export const ulid = (n: number): string =>
  `01JX0000000000000000${[...Array(6).keys()].map((i) => ALPHABET[Math.floor(n / 32 ** (5 - i)) % 32]).join('')}`;

export const MODELS = [
  { id: 'small', tier: 0 },
  { id: 'medium', tier: 1 },
  { id: 'large', tier: 2 },
];
const snapshot = compileSnapshot(
  untrainedSnapshot({ snapshotId: ulid(0), createdAt: new Date(AT_MS).toISOString(), models: MODELS }),
);

/** A decision as the first snapshot makes it. */
export function decision(n: number, more: Partial<SnapshotRequest> = {}): RouteDecision {
  const result = decideFromSnapshot(snapshot, {
    decisionId: ulid(n),
    tenant: 'acme',
    features: textFeatures(`Explain step ${n} of ${n * 7} in ${n % 5} words`),
    candidates: MODELS.map(({ id }, i) => ({ model: id, costNanoUsd: 100 * 4 ** i })),
    u: (n * 0.618034) % 1,
    variantDraw: 0.5,
    ...more,
  });
  if (result.status !== 'decided') throw new Error(result.status);
  return result.decision;
}

export function decisionRow(n: number, more: Partial<DecisionRow> = {}): DecisionRow {
  return {
    id: ulid(n),
    atMs: AT_MS + n,
    tenant: 'acme',
    workspace: 'acme-prod',
    source: 'router',
    decision: decision(n),
    expiresAtMs: AT_MS + 60_000 + n,
    rewardState: 'pending',
    ...more,
  };
}
