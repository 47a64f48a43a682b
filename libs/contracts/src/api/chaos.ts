import { z } from 'zod';
import { Instant, Name } from '../ids.ts';
import { TopicName } from '../topology.ts';
import { SimFault } from './simulator.ts';

/** `POST /api/chaos/flood`. */
export const ChaosFlood = z.strictObject({
  tenant: Name,
  rps: z.int().min(1).max(2000),
  seconds: z.int().min(1).max(600),
});
export type ChaosFlood = z.infer<typeof ChaosFlood>;

/** `POST /api/chaos/provider`; the provider `all` means every one. */
export const ChaosProvider = SimFault.extend({ provider: Name });
export type ChaosProvider = z.infer<typeof ChaosProvider>;

/** `POST /api/chaos/consumer`. */
export const ChaosConsumer = z.strictObject({
  consumer: z.enum(['audit', 'metering', 'anomaly']),
  broken: z.boolean(),
  seconds: z.int().min(1).max(3600).default(60),
});
export type ChaosConsumer = z.infer<typeof ChaosConsumer>;

/** `POST /api/chaos/gateway`: kills a gateway without warning; the only one that is connected when none is named. */
export const ChaosGateway = z.strictObject({ gateway: Name.optional() });
export type ChaosGateway = z.infer<typeof ChaosGateway>;

/** `POST /api/chaos/stream`: cuts the configuration stream of one gateway, or of all. */
export const ChaosStream = z.strictObject({ gateway: Name.optional(), seconds: z.int().min(1).max(600).default(30) });
export type ChaosStream = z.infer<typeof ChaosStream>;

/** `POST /api/chaos/valkey`: the shared limit store does not answer. */
export const ChaosValkey = z.strictObject({ seconds: z.int().min(1).max(600).default(30) });
export type ChaosValkey = z.infer<typeof ChaosValkey>;

/** Messages that no consumer may store, and that may stop none. */
export const POISON_KINDS = [
  'not_json',
  'not_an_object',
  'empty_object',
  'unknown_version',
  'wrong_types',
  'deep_nesting',
  'prototype_fields',
  'huge_numbers',
  'nul_character',
  'invalid_date',
  'future_date',
  'oversized',
] as const;
export const PoisonKind = z.enum(POISON_KINDS);
export type PoisonKind = z.infer<typeof PoisonKind>;

/**
 * `POST /api/chaos/poison`: hostile messages, the kinds in turn, to a topic, or past it to one queue (`audit` when
 * neither is named).
 */
export const ChaosPoison = z
  .strictObject({
    queue: z.string().min(1).max(80).optional(),
    topic: TopicName.optional(),
    count: z.int().min(1).max(500).default(POISON_KINDS.length),
    kinds: z.array(PoisonKind).min(1).max(POISON_KINDS.length).optional(),
  })
  .refine((body) => body.queue === undefined || body.topic === undefined, 'name either a queue or a topic')
  .meta({ examples: [{ queue: 'audit', count: 12 }] });
export type ChaosPoison = z.infer<typeof ChaosPoison>;

/**
 * `POST /api/chaos/clock`: the wall clock of a gateway is off by this much, then right again; the only connected
 * one when none is named.
 */
export const ChaosClock = z.strictObject({
  gateway: Name.optional(),
  offset_ms: z
    .int()
    .min(-86_400_000)
    .max(86_400_000)
    .refine((ms) => ms !== 0, 'must not be 0: that is no step'),
  seconds: z.int().min(1).max(300).default(20),
});
export type ChaosClock = z.infer<typeof ChaosClock>;

/** `POST /api/chaos/disk`: the disk of a gateway's outbox is full for this long. */
export const ChaosDisk = z.strictObject({ gateway: Name.optional(), seconds: z.int().min(1).max(300).default(20) });
export type ChaosDisk = z.infer<typeof ChaosDisk>;

/**
 * What a gateway is ordered to do to itself; it obeys only where chaos is enabled, and undoes it by itself after
 * `seconds`.
 */
export const ChaosOrder = z.discriminatedUnion('action', [
  z.object({ action: z.literal('kill') }),
  z.object({ action: z.literal('clock'), offset_ms: z.int(), seconds: z.number() }),
  z.object({ action: z.literal('disk_full'), seconds: z.number() }),
  z.object({ action: z.literal('mend'), what: z.enum(['clock', 'disk_full', 'all']) }),
]);
export type ChaosOrder = z.infer<typeof ChaosOrder>;

/**
 * One promise about a running failure. `waiting` has neither happened nor been missed; `holds` is true so far, or has
 * happened; `failed` is broken for good; `unproven` ended without any traffic that could have shown it.
 */
export const ChaosCheck = z.object({
  /** What is expected, in words: `acme and globex are unchanged`. */
  expected: z.string(),
  /** What the live picture says of it: `0 shed, 0 throttled, longest wait 0.4 ms`. */
  observed: z.string(),
  verdict: z.enum(['waiting', 'holds', 'failed', 'unproven']),
  /** Whether it is about the failure itself or about the recovery from it. */
  phase: z.enum(['during', 'after']),
});
export type ChaosCheck = z.infer<typeof ChaosCheck>;

/** A failure that was started on purpose, with what was expected of it and what was seen. */
export const ChaosReport = z.object({
  id: z.string(),
  kind: z.string(),
  target: z.string(),
  started_at: Instant,
  /** When it ended, or will. */
  ends_at: Instant,
  /** `recovering` is over and its last promises are still open; `done` has a verdict on each. */
  phase: z.enum(['running', 'recovering', 'done']),
  checks: z.array(ChaosCheck),
});
export type ChaosReport = z.infer<typeof ChaosReport>;

/** A failure that can be started, as a button shows it: `GET /api/chaos/menu`. */
export const ChaosMenuItem = z.object({
  id: z.string(),
  group: z.enum(['load', 'provider', 'gateway', 'spine']),
  label: z.string(),
  /** What it does, in a sentence. */
  does: z.string(),
  /** What is sent: `POST <path>` with `body`. */
  path: z.string(),
  body: z.record(z.string(), z.unknown()),
  /** What to expect, in the words of the checks that will be made. */
  expects: z.array(z.string()),
  /** Why it cannot be started here; absent when it can. */
  unavailable: z.string().optional(),
});
export type ChaosMenuItem = z.infer<typeof ChaosMenuItem>;
