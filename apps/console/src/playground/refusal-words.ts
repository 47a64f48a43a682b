/** Headline and advice by refusal; the gateway's own sentence stands between them. */
export const PLAYGROUND_ERROR_TEXT: Readonly<
  Record<string, { readonly title: string; readonly todo: string } | undefined>
> = {
  throttled: {
    title: 'A rate limit is reached',
    todo: 'Wait for the countdown and send it again. To allow more, raise the limit under Limits and policy.',
  },
  quota: {
    title: 'A quota is used up',
    todo: 'Waiting does not help before the quota begins anew. Raise it under Limits and policy, or the cap on overage under Billing.',
  },
  shed: { title: 'Too many calls are in progress', todo: 'Wait until some have ended and send it again.' },
  queue_timeout: { title: 'The model is busy', todo: 'Send it again in a moment, or choose another model.' },
  kill_switch: {
    title: 'Switched off by the operator',
    todo: 'Wait until it is switched on again; nothing is wrong with the call.',
  },
  draining: { title: 'The gateway is being restarted', todo: 'Send it again.' },
  metering_full: { title: 'The gateway cannot record usage just now', todo: 'Send it again in a moment.' },
  metering_share: { title: 'The gateway cannot record more usage just now', todo: 'Send it again in a moment.' },
  not_ready: { title: 'The gateway is just starting', todo: 'Send it again in a moment.' },
  upstream_rate_limited: {
    title: 'The provider limits calls',
    todo: 'Wait for the countdown, or choose another model.',
  },
  upstream_overloaded: {
    title: 'The provider is overloaded',
    todo: 'Send it again in a moment, or choose another model.',
  },
  upstream_unavailable: {
    title: 'No provider could answer',
    todo: 'Send it again in a moment, or choose another model.',
  },
  upstream_timeout: {
    title: 'The provider did not answer in time',
    todo: 'Send it again, or ask for a shorter answer.',
  },
  upstream_account: {
    title: 'The provider refused the account behind this model',
    todo: 'The operator has been told. Choose another model meanwhile.',
  },
  model_not_found: { title: 'This model cannot be used here', todo: 'Choose one of the list.' },
  model_retired: { title: 'This model is no longer offered', todo: 'Choose its successor.' },
  price_unknown: {
    title: 'This model has no price yet',
    todo: 'Choose another one, or let an admin allow such calls under Limits and policy.',
  },
  workspace_suspended: { title: 'This workspace is suspended', todo: 'Ask the owner of your account why.' },
  unauthenticated: {
    title: 'The gateway did not accept the console’s word for you',
    todo: 'Nothing is wrong with the call. Give the request id to your provider of this gateway.',
  },
  signed_out: { title: 'Your session has ended', todo: 'Reload this page to sign in again.' },
  internal: {
    title: 'Something failed behind the console',
    todo: 'Send it again. If it goes on, give the request id to your provider of this gateway.',
  },
};
