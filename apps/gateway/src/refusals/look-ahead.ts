import type { LimitStore, MaybePromise, Refusal } from '@sluice/contracts';
import type { Call } from '../call.ts';
import type { CompiledKey } from '../compiled-config.ts';
import { leastTokens } from '../metering/estimator.ts';
import { refusalOf } from './limit-refusal.ts';

/**
 * Whether admission will refuse a call with a body of so many bytes whatever the body says: its key, workspace or
 * tenant is at a limit now. In admission's own words.
 */
export type LookAhead = (call: Call, bodyBytes: number) => MaybePromise<Refusal | undefined>;

/** Takes nothing, and refuses nobody whom admission would let in. */
export function createLookAhead({ limits }: { limits: Pick<LimitStore, 'look'> }): LookAhead {
  return (call, bodyBytes) => {
    const { scope, workspace } = call.key as CompiledKey;
    const found = limits.look(scope, leastTokens(bodyBytes));
    const refuse = (refusal: Awaited<typeof found>): Refusal | undefined =>
      refusal === undefined ? undefined : refusalOf(refusal, workspace.policy);
    return found instanceof Promise ? found.then(refuse) : refuse(found);
  };
}
