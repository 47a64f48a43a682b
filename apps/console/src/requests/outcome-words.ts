import type { Outcome } from '@sluice/contracts';

/** How a call ended, in a word or two, and how bad that is. */
export const OUTCOME_WORDS: Readonly<
  Record<Outcome, { readonly word: string; readonly tone: 'good' | 'warn' | 'bad' | 'plain' }>
> = {
  ok: { word: 'answered', tone: 'good' },
  client_error: { word: 'not understood', tone: 'bad' },
  unauthenticated: { word: 'no valid key', tone: 'bad' },
  quota: { word: 'quota used up', tone: 'bad' },
  shed: { word: 'too many at once', tone: 'warn' },
  throttled: { word: 'rate limit', tone: 'warn' },
  cancelled: { word: 'stopped by caller', tone: 'plain' },
  interrupted: { word: 'interrupted', tone: 'bad' },
  upstream_error: { word: 'provider failed', tone: 'bad' },
  timeout: { word: 'timed out', tone: 'bad' },
  internal_error: { word: 'gateway failed', tone: 'bad' },
};
