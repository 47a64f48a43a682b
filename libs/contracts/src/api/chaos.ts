import { z } from 'zod';
import { Name } from '../ids.ts';
import { TopicName } from '../topology.ts';
import { SimFault } from './simulator.ts';

/** `POST /api/chaos/flood`. */
export const ChaosFlood = z.strictObject({ tenant: Name, rps: z.int().min(1).max(2000), seconds: z.int().min(1).max(600) });
export type ChaosFlood = z.infer<typeof ChaosFlood>;

/** `POST /api/chaos/provider`. */
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

/** `POST /api/chaos/poison`: hostile messages, the kinds in turn, to a topic, or past it to one queue (`audit` when neither is named). */
export const ChaosPoison = z
  .strictObject({
    queue: z.string().min(1).max(80).optional(),
    topic: TopicName.optional(),
    count: z.int().min(1).max(500).default(POISON_KINDS.length),
    kinds: z.array(PoisonKind).min(1).max(POISON_KINDS.length).optional(),
  })
  .refine((body) => body.queue === undefined || body.topic === undefined, 'name either a queue or a topic');
export type ChaosPoison = z.infer<typeof ChaosPoison>;
