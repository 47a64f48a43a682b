import type { LimitStore } from '@sluice/contracts';
import type { Call } from '../../call.ts';
import type { Estimator } from '../../metering/estimator.ts';
import { compiledSample } from '../../testing/compiled-sample.ts';
import { SAMPLE_KEYS, type RawSnapshot } from '../../testing/sample-snapshot.ts';
import { createAdmitStage } from './admit.ts';

/** A gateway whose outbox is full for one tenant, or for all. */
function refusalOf(
  secret: string,
  fullFor: string | undefined,
  change: (raw: RawSnapshot) => void = () => undefined,
): unknown {
  const key = compiledSample(change).keys.get(secret.split('-')[2] as string);
  const outbox = {
    accepting: (tenantId?: string) => fullFor !== undefined && tenantId !== fullFor,
    shareFull: (tenantId: string) => tenantId === fullFor,
  };
  const stage = createAdmitStage({
    limits: {} as LimitStore,
    estimator: {} as Estimator,
    outbox,
    retrySlots: { waitFor: ({ waitMs }) => waitMs },
  });
  return stage.run({ key } as Call);
}

it('a tenant whose share of the outbox is full is refused in each of its workspaces, and is told that it is its own', () => {
  const secondWorkspace = (raw: RawSnapshot): void =>
    void ((raw.workspaces['globex-prod'] as { tenant: string }).tenant = 'acme');
  for (const secret of [SAMPLE_KEYS.acme, SAMPLE_KEYS.globex])
    expect(refusalOf(secret, 'acme', secondWorkspace)).toEqual({ code: 'metering_share', retryAfterMs: 5_000 });
});

it('an outbox that takes nothing more of anybody is told as that', () => {
  expect(refusalOf(SAMPLE_KEYS.acme, undefined)).toEqual({ code: 'metering_full', retryAfterMs: 5_000 });
});
