import type { FaultKind } from '@sluice/contracts';
import { finalRefusal, nextStep } from './next-step.ts';

const situation = (kind: FaultKind, over: Partial<Parameters<typeof nextStep>[0]> = {}) =>
  nextStep({
    fault: { kind, detail: '' },
    triggerOn: ['rate_limit', 'timeout', 'error'],
    entriesLeft: 1,
    triesHere: 1,
    callsLeft: 2,
    otherAccount: false,
    ...over,
  });

describe('what follows a failed attempt', () => {
  it('a blip at the first choice is tried once more there, then elsewhere', () => {
    expect(situation('server')).toBe('retry');
    expect(situation('server', { triesHere: 2, callsLeft: 1 })).toBe('next');
  });
  it('a busy or silent provider is left at once when there is another', () => {
    expect(situation('rate_limited')).toBe('next');
    expect(situation('timeout')).toBe('next');
  });
  it('without another place a transient fault is retried, a timeout is not', () => {
    expect(situation('rate_limited', { entriesLeft: 0 })).toBe('retry');
    expect(situation('timeout', { entriesLeft: 0 })).toBe('give_up');
  });
  it('what the caller caused is neither retried nor moved', () => {
    expect(situation('caller')).toBe('give_up');
    expect(situation('context_window')).toBe('give_up');
  });
  it('a context window fault moves on only where the policy says so', () => {
    expect(situation('context_window', { triggerOn: ['context_window'] })).toBe('next');
  });
  it('a trigger that the policy leaves out does not move on', () => {
    expect(situation('rate_limited', { triggerOn: ['error'] })).toBe('retry');
    expect(situation('timeout', { triggerOn: ['error'] })).toBe('give_up');
  });
  it('what one account met is tried again by another account of the same provider', () => {
    expect(situation('rate_limited', { otherAccount: true })).toBe('retry');
    expect(situation('account', { otherAccount: true })).toBe('retry');
    expect(situation('account', { entriesLeft: 0 })).toBe('give_up');
    expect(situation('overloaded', { otherAccount: true })).toBe('next');
  });
  it('nothing follows when the attempts are used up', () => {
    expect(situation('server', { callsLeft: 0 })).toBe('give_up');
  });
});

describe('the final word', () => {
  it("our account's faults are told as 502, not as the caller's", () => {
    expect(finalRefusal({ kind: 'account', status: 401, detail: '' }).code).toBe('upstream_account');
  });
  it("a provider's rate limit passes with its waiting time and says who refused", () => {
    expect(finalRefusal({ kind: 'rate_limited', status: 429, retryAfterMs: 7000, detail: '' })).toEqual({
      code: 'upstream_rate_limited',
      refusedBy: 'upstream',
      retryAfterMs: 7000,
    });
  });
});
