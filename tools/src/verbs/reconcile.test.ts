import { zeroUsage } from '@sluice/contracts';
import { reconcile, type ProviderCount } from './reconcile.ts';

const providers: ProviderCount = { calls: 10, completed: 10, unfinished: 0, input: 100, output: 200, inFlight: 0 };
const ledger = {
  calls: 10,
  attempts: 10,
  outcomes: { ok: 10 },
  tokens: { ...zeroUsage(), input: 90, cache_read: 10, output: 200 },
};

describe('reconcile', () => {
  it('counts cached input as input', () => {
    expect(reconcile(ledger, providers)).toEqual([]);
  });

  it('finds one call that is missing, and one that is there twice', () => {
    expect(reconcile({ ...ledger, outcomes: { ok: 9 } }, providers)).toHaveLength(1);
    expect(reconcile({ ...ledger, outcomes: { ok: 11 } }, providers)).toHaveLength(1);
  });

  it('finds a single token', () => {
    expect(reconcile({ ...ledger, tokens: { ...ledger.tokens, output: 201 } }, providers)).toEqual([
      'the ledger holds 201 output tokens, the providers counted 200',
    ]);
  });

  it('lets a provider have completed what a killed gateway left interrupted, and no more', () => {
    const killed = { ...ledger, outcomes: { ok: 8, interrupted: 2 } };
    expect(reconcile(killed, providers)).toEqual([]);
    expect(reconcile({ ...ledger, outcomes: { ok: 7, interrupted: 2 } }, providers)).toHaveLength(1);
    expect(reconcile({ ...ledger, outcomes: { ok: 11, interrupted: 2 } }, providers)).toHaveLength(1);
  });

  it('lets partial answers add to the ledger, never take from it', () => {
    const cut = { ...providers, calls: 11, unfinished: 1 };
    expect(reconcile({ ...ledger, tokens: { ...ledger.tokens, output: 205 } }, cut)).toEqual([]);
    expect(reconcile({ ...ledger, tokens: { ...ledger.tokens, output: 199 } }, cut)).toHaveLength(1);
  });
});
