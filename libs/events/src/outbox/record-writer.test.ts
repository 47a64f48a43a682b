import fc from 'fast-check';
import { CallAttempt, CallSettled, CallStarted, OUTCOMES, TokenUsage } from '@sluice/contracts';
import { settledCall, startedCall } from '../fixtures.ts';
import { readRecord } from './record.ts';
import { storedRecord, type StoredRecord } from './record-decoder.ts';
import { RECORD_WORDS } from './record-words.ts';
import { RecordWriter } from './record-writer.ts';

type Unplaced = Parameters<RecordWriter['addSettled']>[0];
const AWKWARD =
  'quote " backslash \\ newline \n bell \u0007 umlaut \u00e4 snow \u2603 pair \ud83d\ude00 half \ud83d end';
const USAGE = {
  input: 255,
  cache_read: 256,
  cache_write: 65_535,
  output: 65_536,
  reasoning: 4_294_967_295,
  audio: 4_294_967_296,
};
const IDENTITY = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  client_request_id: 'c'.repeat(300),
  model_requested: AWKWARD,
  feature: '',
  tags: JSON.parse(`{"__proto__":"a tag too","${'n'.repeat(70_000)}":"long","tags":"tags"}`) as Record<string, string>,
  end_user: AWKWARD.repeat(30),
};
const ULID = '01JDZZZZZZZZZZZZZZZZZZZZZZ';
const ROUTED = {
  decision: {
    decision_id: ULID,
    feature_class: AWKWARD,
    features: [0.1, 1e-9, -0.5, -1],
    arms: [{ model: 'm', cost_nanousd: 1, probability: 0.123456789012345678, mean: 0.1, width: 0.2 }],
    chosen: 'm',
    base: 'm',
    fallback: false,
    propensity: 0.123456789012345678,
    u: 0.3,
    alpha: 1,
    gamma: 2,
    floor: 0.01,
    rejected_floor: 0,
    rule: 'cheapest',
    cost_weight: 0.2,
    latency_share: 0,
    threshold: { value: 0.7, base: 0.7, difficulty: 0, pressure: 0, budget: 0 },
    evaluated: true,
  },
  shadow: { rollout_id: ULID, policy_version: 'v2', error: AWKWARD },
} as const;
const STARTED = {
  ...startedCall(1),
  ...IDENTITY,
  ...ROUTED,
  provider_price: { input_picousd: 7, output_picousd: 8 },
} as unknown as CallStarted;
const ATTEMPT = {
  index: 0,
  provider: 'p',
  credential: 'c',
  model: 'm',
  provider_model: AWKWARD,
  outcome: 'ok',
  status: 200,
  usage: USAGE,
  usage_source: 'provider',
  served: { tier: 'priority', cache_write_1h: 3, tools: { web_search: 2 } },
  cost_nanousd: 9,
  queue_ms: 0.25,
  ttfb_ms: 1.5,
  duration_ms: 2,
} as const;
const { status: _status, ttfb_ms: _ttfb, ...BARE_ATTEMPT } = ATTEMPT;
const SETTLED: Unplaced = {
  ...settledCall(1),
  ...IDENTITY,
  ...(ROUTED as unknown as Pick<CallSettled, 'decision' | 'shadow'>),
  error_code: AWKWARD,
  provider: 'p',
  model: 'm',
  fallback: true,
  fallback_reason: AWKWARD,
  decision_id: AWKWARD,
  usage: USAGE,
  finish_reason: AWKWARD,
  latency: { overhead_us: 10, queue_ms: 0.125, ttfb_ms: 3.5, total_ms: 1e21 },
  attempts: [ATTEMPT, { ...BARE_ATTEMPT, index: 1 }],
};

/** The records of a batch as they lie one behind the other. */
function recordsOf(batch: RecordWriter): StoredRecord[] {
  const out: StoredRecord[] = [];
  for (let at = 0; at < batch.length;) {
    const record = readRecord(batch.bytes.subarray(0, batch.length), at);
    if (typeof record !== 'object') throw new Error(`${record} at ${at}`);
    out.push(storedRecord(Buffer.from(record.payload)));
    at = record.end;
  }
  return out;
}

function written(add: (batch: RecordWriter) => number, batch = new RecordWriter()): StoredRecord {
  batch.clear();
  expect(add(batch)).toBe(batch.length);
  return recordsOf(batch)[0] as StoredRecord;
}
const started = (event: CallStarted): unknown => written((batch) => batch.addStarted(event)).decode();
const settled = (event: Unplaced): unknown =>
  written((batch) => batch.addSettled(event, 'gw-1', 1_700_000_000_000, 3)).decode();
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const placed = (event: Unplaced): unknown =>
  asJson({ ...event, gateway_id: 'gw-1', epoch: 1_700_000_000_000, sequence: 3 });
const namesOf = (shape: object, without: readonly string[] = []): string[] =>
  Object.keys(shape)
    .filter((name) => !without.includes(name))
    .sort();

it('a record with every member that the contract knows is read back as it was, whatever its texts hold', () => {
  expect(namesOf(STARTED)).toEqual(namesOf(CallStarted.shape));
  expect(started(STARTED)).toStrictEqual(asJson(STARTED));
  expect(namesOf(SETTLED)).toEqual(namesOf(CallSettled.shape, ['gateway_id', 'epoch', 'sequence']));
  expect(settled(SETTLED)).toStrictEqual(placed(SETTLED));
});

it('what is absent is left out, and what another version knows is kept', () => {
  expect(started({ ...startedCall(2), feature: undefined } as unknown as CallStarted)).toStrictEqual(startedCall(2));
  const later = { ...settledCall(2), residency: { region: 'eu', since: [1, null, [], {}] }, carbon_mg: 1.5 };
  expect(settled(later)).toStrictEqual(placed(later));
});

it('a figure that is no number spoils its field, never the record', () => {
  expect(
    settled({ ...settledCall(3), cost_nanousd: NaN, latency: { overhead_us: Infinity, queue_ms: 0, total_ms: 1 } }),
  ).toMatchObject({ cost_nanousd: null, latency: { overhead_us: null }, outcome: 'ok' });
});

it('any event comes back equal to what its JSON text would have brought, one after the other from the same memory', () => {
  const texts = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.constantFrom(...RECORD_WORDS),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
  );
  const numbers = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.integer({ min: 0, max: 70_000 }),
    fc.constantFrom(255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      texts,
      numbers,
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 5 }),
      tie('members'),
    ),
    members: fc.dictionary(texts, tie('value'), { maxKeys: 8 }),
  }));
  const batch = new RecordWriter();
  fc.assert(
    fc.property(fc.array(fc.dictionary(texts, value, { maxKeys: 12 }), { minLength: 1, maxLength: 6 }), (events) => {
      batch.clear();
      for (const event of events) batch.addStarted(event as unknown as CallStarted);
      expect(recordsOf(batch).map((record) => record.decode())).toEqual(events.map(asJson));
    }),
    { numRuns: 300 },
  );
});

it('a record that outgrows the memory of its batch is whole, and so are those before it', () => {
  const batch = new RecordWriter();
  const events = [
    startedCall(1),
    {
      ...startedCall(2),
      tags: Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`t${n}`, `\u2603${'x'.repeat(20_000)}`])),
    },
    startedCall(3),
  ];
  for (const event of events) batch.addStarted(event);
  expect(recordsOf(batch).map((record) => record.decode())).toEqual(events);
});

it('the place of an end is known before it is decoded, and a start has none', () => {
  expect(written((batch) => batch.addSettled(settledCall(1), 'gw-1', 1_700_000_000_000, 2 ** 40))).toMatchObject({
    kind: 'settled',
    epoch: 1_700_000_000_000,
    sequence: 2 ** 40,
  });
  expect(written((batch) => batch.addStarted(startedCall(1)))).toMatchObject({
    kind: 'started',
    epoch: 0,
    sequence: 0,
  });
});

describe('what lies on disks', () => {
  /** Of the version that brought this format. */
  const END_OF_CALL_1 =
    '9VNMAQIAAIBW/rx4QgAAAAAAAAhABgkEZ3ctMQEIPwQJGDIwMjMtMTEtMTRUMjI6MTM6MjAuMDAwWgcJHnJlcV8wMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMQkJBGFjbWUKCQlhY21lLXByb2QLCSQwYjhjNWE2MC04ZDBlLTRjNjItOWYwZS0wZTZmNGY1YjFhMTAMCQ1jZWxsLXNoYXJlZC0xDQkIa2V5XzAwMDEOCEIPAxAJAW0SDAACCSZyZXFfMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDEuc2V0dGxlZAMIQSIIRyQEyCUISCYCHwhKKQhLKgw5BAA6BAA7BAA8BAA9BAA+BAAAKwgYFwQBLAQBGgQBLQwVBAEWBAEALwwwBAExBAAzBAEANA0AAA==';

  it('records of the first version of this format are read', () => {
    expect(storedRecord(Buffer.from(END_OF_CALL_1, 'base64')).decode()).toEqual(placed(settledCall(1)));
  });

  it('each name of the contract takes one byte, as do the values that nearly every call has', () => {
    const names = [CallStarted, CallSettled, CallAttempt, TokenUsage]
      .flatMap(({ shape }) => Object.keys(shape))
      .filter((name) => name !== 'epoch' && name !== 'sequence');
    expect(names.filter((name) => !RECORD_WORDS.includes(name))).toEqual([]);
    expect(RECORD_WORDS).toEqual(
      expect.arrayContaining([OUTCOMES[0], settledCall(1).schema, 'call.started', 'call.settled']),
    );
    expect(RECORD_WORDS.length).toBeLessThan(255);
    expect(new Set(RECORD_WORDS).size).toBe(RECORD_WORDS.length);
  });

  it('refuses what a later version wrote instead of taking it for damage', () => {
    const payload = Buffer.from(END_OF_CALL_1, 'base64');
    payload[3] = 2;
    expect(() => storedRecord(payload)).toThrow(/format of a later version/);
    const word = Buffer.from(END_OF_CALL_1, 'base64');
    word[4 + 1 + 16] = 254;
    expect(() => storedRecord(word).decode()).toThrow(/format of a later version/);
  });
});
