import { CONFIG_ROW, type ConfigTable } from '@sluice/contracts';
import { createConfigRowReader } from './config-row-reader.ts';

const LIMITS = {
  requests: { perSecond: 5, burst: 5 },
  quotas: [{ id: 'm', meter: 'total_tokens', span: { kind: 'calendar', period: 'month' }, limit: 9, mode: 'hard' }],
};
const tenant = (id: string, more: object = {}) => ({
  id,
  name: id,
  plan: 'team',
  limits: structuredClone(LIMITS),
  ...more,
});
const workspace = (slug: string, more: object = {}) => ({
  slug,
  uuid: '00000000-0000-4000-8000-000000000001',
  tenant: 'acme',
  ...more,
});
const key = (keyId: string, more: object = {}) => ({
  keyId,
  digest: 'a'.repeat(64),
  workspace: 'acme-prod',
  name: 'n',
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

function reader() {
  const told: string[] = [];
  const read = createConfigRowReader({ error: (fields) => void told.push(JSON.stringify(fields)) });
  return { read, told };
}

it.each<[ConfigTable, object]>([
  ['tenants', tenant('acme')],
  ['tenants', tenant('acme', { timeZone: 'Europe/Berlin', status: 'suspended', overageCapNanoUsd: 5 })],
  ['workspaces', workspace('acme-prod')],
  ['workspaces', workspace('acme-prod', { override: { limits: { tokens: { perMinute: 3 } }, maxBodyBytes: 2048 } })],
  ['keys', key('acmekey001')],
  [
    'keys',
    key('acmekey001', {
      limits: LIMITS,
      tags: { team: 'a' },
      allowModels: ['m'],
      expiresAt: '2027-01-01T00:00:00.000Z',
    }),
  ],
  ['cells', { id: 'c', kind: 'shared' }],
])('a row of %s is read as its schema reads it, first and again: %j', (table, row) => {
  const { read, told } = reader();
  const expected = CONFIG_ROW[table].parse(row);
  for (let i = 0; i < 2; i += 1) expect(read(table, 'x', structuredClone(row))).toStrictEqual(expected);
  expect(told).toEqual([]);
});

it('parts that are equal are one object in all rows, others are not', () => {
  const { read } = reader();
  const [a, b, c] = [
    read('tenants', 'a', tenant('a')),
    read('tenants', 'b', tenant('b')),
    read('tenants', 'c', tenant('c', { limits: { quotas: [] } })),
  ];
  expect(a?.limits).toBe(b?.limits);
  expect(c?.limits).toEqual({ quotas: [] });
});

it.each<[ConfigTable, unknown, string]>([
  ['tenants', tenant('a', { limits: { concurrency: { inFlight: 1, queued: 2 } } }), 'limits.concurrency.queued'],
  ['tenants', tenant('a', { timeZone: 'Mars/Olympus' }), 'timeZone'],
  ['tenants', tenant('a', { extra: 1 }), 'extra'],
  ['tenants', { id: 'a', name: 'a', plan: 'team' }, 'limits'],
  ['workspaces', workspace('NOT A SLUG'), 'slug'],
  ['keys', key('acmekey001', { digest: 'secret' }), 'digest'],
  ['keys', null, 'expected object'],
  ['keys', 'x', 'expected object'],
])(
  'a row of %s that is not valid is left out, whatever valid ones came before, and what is wrong is said: %j',
  (table, row, said) => {
    const { read, told } = reader();
    read('tenants', 'a', tenant('a'));
    read('keys', 'a', key('acmekey001'));
    expect(read(table, 'bad', row)).toBeUndefined();
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('"id":"bad"');
    expect(told[0]).toContain(said);
  },
);

it('more different parts than are remembered are each read right', () => {
  const { read } = reader();
  for (let round = 0; round < 2; round += 1) {
    for (let n = 1; n <= 2_500; n += 1)
      expect(
        read('keys', 'k', key('acmekey001', { limits: { tokens: { perMinute: n } } }))?.limits?.tokens?.perMinute,
      ).toBe(n);
  }
});
