import type { Anomaly } from '@sluice/contracts';
import type { AccountChange } from '../stages/attempt/send-attempt.ts';

type UpstreamAnomaly = Pick<Anomaly, 'type' | 'level' | 'subject' | 'message' | 'samples'>;

/** What people are told when a breaker opens or closes. */
export function breakerAnomaly({
  provider,
  model,
  to,
}: {
  readonly provider: string;
  readonly model: string;
  readonly to: string;
}): UpstreamAnomaly {
  return {
    type: to === 'open' ? 'breaker.opened' : 'breaker.closed',
    level: 'provider',
    subject: `${provider}/${model}`,
    message:
      to === 'open'
        ? `${provider} fails for ${model}: its breaker is open and other providers are used.`
        : `${provider} is well again for ${model}: its breaker is closed.`,
    samples: [],
  };
}

/** What people are told when an account cannot be used any more. */
export function accountAnomaly({ provider, credential, requestId, status }: AccountChange): UpstreamAnomaly {
  return {
    type: 'provider.account_fault',
    level: 'provider',
    subject: `${provider}/${credential}`,
    message:
      status === undefined
        ? `The secret of ${provider}'s credential '${credential}' is not there: nothing is sent by it.`
        : `${provider} refuses our credential '${credential}' with ${status}: its secret or its account needs attention.`,
    samples: [requestId],
  };
}
