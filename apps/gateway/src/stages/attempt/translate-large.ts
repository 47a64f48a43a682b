import type { LargeBody, PlannedAttempt, ProviderAdapter, Refusal } from '@sluice/contracts';
import { ownerOf } from '../../bodies/job-owner.ts';
import type { BodyPool } from '../../bodies/body-pool.ts';
import { failedJob } from '../../bodies/failed-job.ts';
import type { Call, Resolved } from '../../call.ts';
import { type AdapterLookup, serviceOf } from '../../planning/static-plan.ts';
import { targetOf } from './try-once.ts';

export interface TranslateDeps {
  readonly adapters: AdapterLookup;
  readonly bodies: BodyPool;
}

/**
 * Has a large body written in the dialect of the provider that is tried next, before anything of that provider's is
 * taken: the rest of the attempt then only adds headers. Undefined when it is done or nothing had to be.
 */
export async function translateLarge(
  call: Call,
  { adapters, bodies }: TranslateDeps,
  entry: PlannedAttempt,
): Promise<Refusal | undefined> {
  const { inbound } = call.resolved as Resolved;
  const large = inbound.large as LargeBody;
  const { operation, stream, wantsUsage, acrossDialects } = inbound;
  if (serviceOf(adapters(entry.provider.dialect) as ProviderAdapter, operation) !== 'translated') return undefined;
  delete large.translated;
  const { secret: _secret, ...target } = targetOf(call, entry, undefined);
  const end = await bodies.run(
    { kind: 'translate', call: { operation, stream, wantsUsage, acrossDialects }, target },
    inbound.bytes,
    ownerOf(call),
    call.cancel,
  );
  if (end.kind !== 'done') return failedJob(call, end.kind);
  call.body = end.bytes;
  call.resolved = { ...(call.resolved as Resolved), inbound: { ...inbound, bytes: end.bytes } };
  if ('code' in end.result) return end.result;
  large.translated = end.result;
  return undefined;
}
