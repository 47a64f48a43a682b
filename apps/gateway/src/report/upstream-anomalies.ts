import type { Anomaly } from '@sluice/contracts';
import type { BreakerReach } from '@sluice/resilience';
import type { AccountChange } from '../upstream/account-verdicts.ts';
import type { ChangedBreaker } from '../upstream/breakers.ts';
import type { UnknownModel } from '../upstream/unknown-models.ts';

type UpstreamAnomaly = Pick<Anomaly, 'type' | 'level' | 'subject' | 'message' | 'samples'>;

/**
 * What people are told when a breaker's state changes; undefined where it is no news. Only `breaker.opened` says that
 * the provider is down: a breaker that is open for some tenants while others are served is their problem.
 */
export function breakerAnomaly(change: ChangedBreaker): UpstreamAnomaly | undefined {
  const { provider, model, from, to } = change;
  const told = { level: 'provider' as const, subject: `${provider}/${model}`, samples: [] };
  const wasDown = from === 'open' || from === 'half_open';
  if (to === 'half_open' || (to === 'open' && wasDown)) return undefined;
  if (to === 'open')
    return {
      ...told,
      type: 'breaker.opened',
      message: `${provider} fails for ${model}: its breaker is open for ${reachWords(change)}, and other providers are used.`,
    };
  if (to === 'closed')
    return {
      ...told,
      type: 'breaker.closed',
      message: `${provider} is well again for ${model}: its breaker is closed.`,
    };
  return wasDown
    ? {
        ...told,
        type: 'breaker.closed',
        message: `${provider} is well again for ${model}: its breaker is still open for ${reachWords(change)}.`,
      }
    : {
        ...told,
        type: 'breaker.partly_opened',
        message: `Calls of some tenants fail at ${provider} for ${model} while the others are served: its breaker is open for ${reachWords(change)}.`,
      };
}

/** `14 of 14 tenants`, with the names where they are all there: `1 of 4 tenants (initech)`. */
function reachWords({ tenants, tenantsOpen, openFor }: BreakerReach): string {
  if (tenants === 0) return 'our own probes';
  const names = openFor.length === tenantsOpen && tenantsOpen > 0 ? ` (${openFor.join(', ')})` : '';
  return `${tenantsOpen} of ${tenants} ${tenants === 1 ? 'tenant' : 'tenants'}${names}`;
}

/** What people are told when an account cannot be used any more. */
export function accountAnomaly({
  provider,
  credential,
  tenant,
  model,
  requestId,
  status,
}: AccountChange): UpstreamAnomaly {
  const whom = `${tenant === undefined ? '' : ` for ${tenant}`}${model === undefined ? '' : ` on ${model}`}`;
  return {
    type: 'provider.account_fault',
    level: 'provider',
    subject: `${provider}/${credential}`,
    message:
      status === undefined
        ? `The secret of ${provider}'s credential '${credential}' is not there: nothing is sent by it.`
        : `${provider} refuses our credential '${credential}' with ${status}${whom}: ${whom === '' ? 'its secret or its account needs' : 'its access rights need'} attention.`,
    samples: [requestId],
  };
}

/** What people are told when a provider does not know the name that the catalogue has for a model there. */
export function unknownModelAnomaly({ provider, model, providerModel, requestId }: UnknownModel): UpstreamAnomaly {
  return {
    type: 'provider.model_unknown',
    level: 'provider',
    subject: `${provider}/${model}`,
    message: `${provider} does not know '${providerModel.slice(0, 200)}', its name for ${model}: correct the name in the catalogue. Calls go to the next provider.`,
    samples: [requestId],
  };
}
