import type { LedgerRow, SimCallEntry } from '@sluice/contracts';
import type { ClientRecord } from '../load/client-records.ts';
import { reconcileCalls, reconcileGateway, unwitnessed, type Witnesses } from './reconcile-calls.ts';

const NAMES = ['a', 'b', 'c', 'd'];

function row(name: string, over: Partial<LedgerRow> = {}): LedgerRow {
  return {
    kind: 'call',
    corrects: null,
    reason: null,
    event_id: `${name}.settled`,
    request_id: name,
    occurred_at: '2026-01-01T00:00:00.000Z',
    gateway_id: 'gw-1',
    epoch: 7,
    sequence: NAMES.indexOf(name) + 1,
    tenant: 'acme',
    workspace: 'acme-prod',
    key_id: 'key00001',
    operation: 'chat',
    stream: false,
    model_requested: 'sim-small',
    model: 'sim-small',
    provider: 'primary',
    outcome: 'ok',
    error_code: null,
    status: 200,
    abort_case: 'complete',
    fallback: false,
    fallback_reason: null,
    feature: null,
    end_user: null,
    tags: {},
    cache: 'off',
    tokens: { input: 3, cache_read: 1, cache_write: 0, output: 20, reasoning: 0, audio: 0 },
    usage_source: 'provider',
    cost_nanousd: 10,
    billed_nanousd: 20,
    price_version: 1,
    latency: { overhead_us: 1, queue_ms: 0, ttfb_ms: 1, total_ms: 1 },
    attempts: [],
    ...over,
  };
}
const entry = (name: string, over: Partial<SimCallEntry> = {}): SimCallEntry => ({
  seq: 1,
  request_id: name,
  model: 'sim-small',
  ending: 'completed',
  tokens: { input: 3, cache_read: 1, output: 20 },
  ...over,
});
const told = (name: string, over: Partial<ClientRecord> = {}): ClientRecord => ({
  at: '',
  workspace: 'acme-prod',
  request_id: name,
  outcome: 'ok',
  status: 200,
  tokens: { input: 4, output: 20 },
  cost_nanousd: 20,
  ...over,
});

const agreed: Witnesses = {
  rows: NAMES.map((name) => row(name)),
  providers: { primary: NAMES.map((name) => entry(name)), secondary: [] },
  forgotten: false,
  clients: NAMES.map((name) => told(name)),
};

describe('reconciling calls', () => {
  it('says nothing where all witnesses agree, and lets calls that were cut short count what they count', () => {
    expect(reconcileCalls(agreed)).toEqual([]);
    const cut: Witnesses = {
      ...agreed,
      rows: [
        ...agreed.rows,
        row('x', { outcome: 'cancelled', tokens: { ...row('a').tokens, output: 3 } }),
        row('y', { outcome: 'interrupted' }),
        row('z', { cache: 'hit' }),
      ],
      providers: {
        primary: [...NAMES.map((name) => entry(name)), entry('x', { ending: 'cancelled' }), entry('y')],
        secondary: [entry('a', { ending: 'failed' })],
      },
      clients: [
        ...agreed.clients,
        told('x', { outcome: 'cancelled' }),
        told('r', { outcome: 'throttled', status: 429 }),
      ],
    };
    expect(reconcileCalls(cut)).toEqual([]);
  });

  it('names the one call that the ledger lost, by provider and by client', () => {
    expect(reconcileCalls({ ...agreed, rows: agreed.rows.filter(({ request_id }) => request_id !== 'c') })).toEqual([
      'c: primary answered it with 20 tokens, the ledger has no row',
      'c: its client was answered, the ledger has no row',
    ]);
  });

  it('names the one call that the ledger holds twice', () => {
    expect(reconcileCalls({ ...agreed, rows: [...agreed.rows, row('b', { event_id: 'b.again' })] })).toEqual([
      'b: the ledger holds it 2 times',
    ]);
  });

  it('names a call that nobody answered, a refused one that is billed, and one of which each tells other figures', () => {
    expect(reconcileCalls({ ...agreed, rows: [...agreed.rows, row('ghost')] })).toEqual([
      'ghost: the ledger says that primary answered it, which knows of no such call',
    ]);
    // A provider of the operator's own keeps no count here.
    const own = [...agreed.rows, row('own', { provider: 'openai-main' }), row('own2', { provider: 'openai-main' })];
    expect(reconcileCalls({ ...agreed, rows: own })).toEqual([]);
    expect(unwitnessed({ ...agreed, rows: own })).toEqual([['openai-main', 2]]);
    expect(unwitnessed(agreed)).toEqual([]);
    expect(reconcileCalls({ ...agreed, forgotten: true, rows: [...agreed.rows, row('ghost')] })).toEqual([]);
    expect(reconcileCalls({ ...agreed, clients: [told('a', { outcome: 'quota', status: 402 })] })).toEqual([
      'a: its client was refused (quota), the ledger bills it',
    ]);
    expect(
      reconcileCalls({
        ...agreed,
        clients: [told('d', { cost_nanousd: 21 }), told('d', { tokens: { input: 4, output: 19 } })],
      }),
    ).toEqual([
      'd: the ledger bills 20 nanodollars, its client was told 21',
      'd: two clients were given this id',
      'd: the ledger holds 4 input and 20 output tokens, its client was told 4 and 19',
    ]);
    expect(
      reconcileCalls({
        ...agreed,
        providers: {
          primary: [
            entry('a', { tokens: { input: 3, cache_read: 1, output: 21 } }),
            ...NAMES.slice(1).map((name) => entry(name)),
          ],
        },
      }),
    ).toEqual(['a: the ledger holds 4 input and 20 output tokens, primary counted 4 and 21']);
  });
});

describe('reconciling a gateway', () => {
  const count = { gatewayId: 'gw-1', epoch: 7, lastSequence: 4, ok: 4 };
  it('says nothing where its sequence has no gap, and names what is missing, doubled or beyond it', () => {
    expect(reconcileGateway(count, [...agreed.rows, row('old', { epoch: 6, sequence: 99 })])).toEqual([]);
    expect(reconcileGateway(count, agreed.rows.slice(1))).toEqual([
      'gw-1: 1 of its 4 calls are not in the ledger, numbers 1',
      'gw-1 counted 4 calls that ended well, the ledger holds 3',
    ]);
    expect(
      reconcileGateway({ ...count, ok: undefined }, [
        ...agreed.rows,
        row('e', { sequence: 2 }),
        row('f', { sequence: 5 }),
      ]),
    ).toEqual(['b, e: all of them are number 2 of gw-1', 'f: number 5 of gw-1, which has counted to 4 only']);
  });
});
