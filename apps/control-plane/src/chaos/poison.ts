import { EVENT_SCHEMA, POISON_KINDS, type PoisonKind, type TopicName } from '@sluice/contracts';

export interface PoisonMessage {
  readonly kind: PoisonKind;
  readonly id: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A body that the topic's consumer reads and would store, but for what is replaced in it. */
function wellFormed(topic: TopicName, id: string, at: string, replaced: Readonly<Record<string, unknown>>): string {
  const envelope = { schema: EVENT_SCHEMA, event_id: id, occurred_at: at };
  const of = {
    'audit-events': {
      type: 'chaos.poison_sent',
      actor: { kind: 'service', id: 'poison' },
      target: { kind: 'chaos', id: 'poison' },
    },
    'anomaly-events': {
      type: 'refusals.throttled',
      gateway_id: 'poison',
      cell_id: 'poison',
      count: 1,
      subject: 'poison',
      message: 'A poisoned message.',
      samples: [],
    },
    // Of no workspace that exists, so that one that was stored by mistake would be nobody's bill.
    'usage-events': { type: 'call.settled', gateway_id: 'poison', epoch: 1, sequence: 1 },
  };
  return JSON.stringify({ ...envelope, ...of[topic], ...replaced });
}

const OVERSIZED = 300_000;
const NESTED = 20_000;

const BODY: Record<PoisonKind, (topic: TopicName, id: string, at: string) => string> = {
  not_json: (_topic, id) => `{"event_id":"${id}",`,
  not_an_object: (_topic, id) => JSON.stringify([id]),
  empty_object: () => '{}',
  unknown_version: (topic, id, at) => wellFormed(topic, id, at, { schema: 'sluice.event/99' }),
  wrong_types: (topic, id, at) =>
    wellFormed(topic, id, at, { event_id: { id }, type: 7, actor: 'nobody', target: [], count: 'many', sequence: {} }),
  deep_nesting: (topic, id, at) =>
    wellFormed(topic, id, at, { before: null }).replace(
      '"before":null',
      `"before":${'['.repeat(NESTED)}${']'.repeat(NESTED)}`,
    ),
  prototype_fields: (_topic, id) =>
    `{"__proto__":{"schema":"${EVENT_SCHEMA}","polluted":true},"constructor":{"prototype":{"polluted":true}},"event_id":"${id}"}`,
  huge_numbers: (topic, id, at) =>
    wellFormed(topic, id, at, { count: 0, sequence: 0, schema: 0 }).replaceAll(
      /"(count|sequence|schema)":0/g,
      '"$1":1e999',
    ),
  nul_character: (topic, id, at) =>
    wellFormed(topic, id, at, { reason: 'NUL: \u0000', message: 'NUL: \u0000', finish_reason: 'NUL: \u0000' }),
  invalid_date: (topic, id) => wellFormed(topic, id, '2026-02-30T25:61:61Z', {}),
  future_date: (topic, id) => wellFormed(topic, id, '9999-12-31T23:59:59.999Z', {}),
  oversized: (topic, id, at) =>
    wellFormed(topic, id, at, { before: 'x'.repeat(OVERSIZED), message: 'x'.repeat(OVERSIZED) }),
};

/** `count` hostile messages, the kinds in turn. Attributes are of the kind that filters let through. */
export function poisonMessages(
  topic: TopicName,
  count: number,
  kinds: readonly PoisonKind[],
  at: Date,
  newId: () => string,
): PoisonMessage[] {
  const chosen = kinds.length === 0 ? POISON_KINDS : kinds;
  const type = {
    'audit-events': 'chaos.poison_sent',
    'anomaly-events': 'refusals.throttled',
    'usage-events': 'call.settled',
  }[topic];
  return Array.from({ length: count }, (_, n) => {
    const kind = chosen[n % chosen.length] as PoisonKind;
    const id = `poison_${newId()}`;
    return { kind, id, body: BODY[kind](topic, id, at.toISOString()), attributes: { type, poison: kind } };
  });
}
