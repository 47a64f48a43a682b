import { accountUse, rateInWords, reservedInWords, restInWords } from './account-words.ts';

it('says for whom an account rests, on which model, for how long, and why it is refused', () => {
  const at = { until_ms: 12_000 };
  expect([
    restInWords({ kind: 'limited', tenant: 'initech', model: 'sim-large', ...at }, 0),
    restInWords({ kind: 'limited', ...at }, 500),
    restInWords({ kind: 'refused', status: 401, ...at }, 2_000),
    restInWords({ kind: 'refused', status: 403, tenant: 'initech', model: 'sim-large', ...at }, 20_000),
    restInWords({ kind: 'refused', ...at }, 0),
  ]).toEqual([
    'for initech on sim-large, 12 s',
    'for all tenants, 12 s',
    '401, for all tenants, tried again in 10 s',
    '403, for initech on sim-large, tried again by the next call',
    'its secret is missing, for all tenants, tried again in 12 s',
  ]);
});

it('says which rates are kept, which slots are reserved, and whose calls an account takes', () => {
  expect([
    rateInWords({ from: 'configured', requests_per_minute: 600, tokens_per_minute: 9 }),
    rateInWords({ from: 'learned', model: 'sim-large', requests_per_minute: 60 }),
    reservedInWords({ slots: 20, priority: 'high', in_use: 3 }),
    accountUse({ gateway_id: 'gw-1', tiers: ['critical', 'high'] }),
    accountUse({ gateway_id: 'gw-1' }),
  ]).toEqual([
    '600 requests/min, 9 tokens/min, as configured',
    '60 requests/min on sim-large, learned from refusals',
    '20 reserved from high up, 3 in use',
    'gw-1 · critical, high only',
    'gw-1',
  ]);
});
