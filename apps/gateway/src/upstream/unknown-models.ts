import type { Clock } from '@sluice/contracts';

/** A provider said that it does not know a model of the catalogue. */
export interface UnknownModel {
  readonly provider: string;
  readonly model: string;
  /** The name that the operator gave for it. */
  readonly providerModel: string;
  readonly requestId: string;
}

/** A mapping that stays wrong is told of again after this long, milliseconds. */
const AGAIN_AFTER_MS = 600_000;
/** Mappings that are remembered; there are as many as the catalogue has. */
const MAX_KNOWN = 1_000;

/** Tells people of a wrong mapping when it is met and every ten minutes while it is, not once a call. */
export function createUnknownModels(
  { clock }: { readonly clock: Pick<Clock, 'monotonic'> },
  tell: (unknown: UnknownModel) => void,
): (unknown: UnknownModel) => void {
  const toldAt = new Map<string, number>();
  return (unknown) => {
    const key = JSON.stringify([unknown.provider, unknown.providerModel]);
    const now = clock.monotonic();
    const last = toldAt.get(key);
    if (last !== undefined && now - last < AGAIN_AFTER_MS) return;
    if (toldAt.size >= MAX_KNOWN) toldAt.clear();
    toldAt.set(key, now);
    tell(unknown);
  };
}
