import { z } from 'zod';
import {
  ChaosClock,
  ChaosDisk,
  ChaosGateway,
  ChaosPoison,
  ChaosStream,
  ChaosValkey,
  type TopicName,
} from '@sluice/contracts';
import { ProblemError } from '@sluice/service-kit';
import type { ChaosActions } from '../chaos/chaos-actions.ts';
import type { RunningChaos } from '../chaos/running-chaos.ts';
import {
  expectClockStep,
  expectCutStream,
  expectFullDisk,
  expectKilledGateway,
  expectLostStore,
  expectPoison,
} from '../chaos/expectations.ts';
import type { PoisonMessage } from '../chaos/poison.ts';
import type { ConfigStream } from '../stream/config-stream.ts';
import { Running, unknownField, type RecordChaos } from './chaos-running.ts';
import { route, type Route } from './route.ts';

/** A shared limit store that can be made not to answer. */
export interface ValkeyChaos {
  pause(seconds: number): Promise<void>;
  resume(): Promise<void>;
}

export interface PoisonSender {
  /** The topic of a declared queue; undefined for an unknown one. */
  topicOf(queue: string): TopicName | undefined;
  /** A queue that our own consumer reads and the topic feeds. */
  queueOf(topic: TopicName): string | undefined;
  /** Makes and sends them; resolves with those that were refused. */
  send(
    target: { readonly queue: string } | { readonly topic: TopicName },
    chaos: Pick<ChaosPoison, 'count' | 'kinds'>,
  ): Promise<{ messages: readonly PoisonMessage[]; refused: number }>;
}

export interface ChaosPartDeps {
  readonly actions: ChaosActions;
  readonly record: RecordChaos;
  readonly stream: Pick<ConfigStream, 'connected' | 'cut' | 'mend' | 'order'>;
  readonly poison: PoisonSender;
  /** Absent where limits are kept in the gateway's memory. */
  readonly valkey?: ValkeyChaos | undefined;
}

/** How long a killed gateway is shown as running chaos: about what its restart takes. */
const GATEWAY_SECONDS = 5;
/** A poisoned message is a dead letter by then. */
const POISON_SECONDS = 15;

const Poisoned = z.object({
  target: z.string(),
  sent: z.int(),
  refused: z.int(),
  kinds: z.record(z.string(), z.int()),
});

/** Failures of single parts: a gateway, its configuration stream, the shared limit store, messages. */
export function chaosPartRoutes({ actions, record, stream, poison, valkey }: ChaosPartDeps): Route[] {
  /** The gateway that was named, or the only one. */
  const gatewayOf = (named: string | undefined): string => {
    const connected = [...new Set(stream.connected)];
    if (named !== undefined && !connected.includes(named))
      throw unknownField('gateway', `${named} is not connected; connected: ${connected.join(', ') || 'none'}`);
    const found = named ?? connected[0];
    if (found === undefined)
      throw new ProblemError(409, 'No gateway is connected', {
        detail: 'The order travels on the configuration stream, which no gateway follows now.',
      });
    return found;
  };
  return [
    route({
      method: 'post',
      path: '/api/chaos/gateway',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Kill a gateway without warning; its supervisor starts it again',
      status: 202,
      body: ChaosGateway,
      response: Running,
      handler: async (call): Promise<RunningChaos> => {
        const gateway = gatewayOf(call.body.gateway);
        await record(call, 'chaos.gateway', { kind: 'gateway', id: gateway });
        // Watched before it dies, so that its process is known.
        const running = actions.start({
          kind: 'gateway',
          target: gateway,
          seconds: GATEWAY_SECONDS,
          undo: () => undefined,
          expects: expectKilledGateway(gateway),
        });
        stream.order({ action: 'kill' }, gateway);
        return running;
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/stream',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Cut the configuration stream; gateways serve on by what they have',
      status: 202,
      body: ChaosStream,
      response: Running,
      handler: async (call): Promise<RunningChaos> => {
        const { gateway, seconds } = call.body;
        if (gateway !== undefined) gatewayOf(gateway);
        const target = gateway ?? 'all';
        await record(call, 'chaos.stream', { kind: 'stream', id: target });
        stream.cut(gateway);
        return actions.start({
          kind: 'stream',
          target,
          seconds,
          undo: () => stream.mend(gateway),
          expects: expectCutStream(target),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/clock',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Put the wall clock of a gateway wrong, then right again',
      status: 202,
      body: ChaosClock,
      response: Running,
      handler: async (call): Promise<RunningChaos> => {
        const { offset_ms, seconds } = call.body;
        const gateway = gatewayOf(call.body.gateway);
        await record(call, 'chaos.clock', { kind: 'gateway', id: gateway });
        stream.order({ action: 'clock', offset_ms, seconds }, gateway);
        return actions.start({
          kind: 'clock',
          target: gateway,
          seconds,
          undo: () => stream.order({ action: 'mend', what: 'clock' }, gateway),
          expects: expectClockStep(gateway, offset_ms),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/disk',
      auth: 'operator',
      tag: 'Chaos',
      summary: "Let the disk of a gateway's outbox be full",
      status: 202,
      body: ChaosDisk,
      response: Running,
      handler: async (call): Promise<RunningChaos> => {
        const { seconds } = call.body;
        const gateway = gatewayOf(call.body.gateway);
        await record(call, 'chaos.disk', { kind: 'gateway', id: gateway });
        stream.order({ action: 'disk_full', seconds }, gateway);
        return actions.start({
          kind: 'disk',
          target: gateway,
          seconds,
          undo: () => stream.order({ action: 'mend', what: 'disk_full' }, gateway),
          expects: expectFullDisk(gateway),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/valkey',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Make the shared limit store not answer',
      status: 202,
      body: ChaosValkey,
      response: Running,
      handler: async (call): Promise<RunningChaos> => {
        if (valkey === undefined) {
          throw new ProblemError(409, 'There is no Valkey in this stack', {
            detail:
              "Limits are kept in the gateway's memory (store `memory`), so there is no shared store that could be lost.",
          });
        }
        const { seconds } = call.body;
        await record(call, 'chaos.valkey', { kind: 'store', id: 'valkey' });
        await valkey.pause(seconds);
        return actions.start({
          kind: 'valkey',
          target: 'valkey',
          seconds,
          undo: () => valkey.resume(),
          expects: expectLostStore(),
        });
      },
    }),
    route({
      method: 'post',
      path: '/api/chaos/poison',
      auth: 'operator',
      tag: 'Chaos',
      summary: 'Send hostile messages to a topic or a queue; they end in its dead letters, each with the reason',
      status: 202,
      body: ChaosPoison,
      response: Poisoned,
      handler: async (call) => {
        const { topic, queue = 'audit', ...chaos } = call.body;
        if (topic === undefined && poison.topicOf(queue) === undefined)
          throw unknownField('queue', `no queue ${queue} is declared`);
        const target = topic ?? queue;
        await record(call, 'chaos.poison', { kind: topic === undefined ? 'queue' : 'topic', id: target });
        const { messages, refused } = await poison.send(topic === undefined ? { queue } : { topic }, chaos);
        const poisoned = topic === undefined ? queue : poison.queueOf(topic);
        actions.start({
          kind: 'poison',
          target,
          seconds: POISON_SECONDS,
          undo: () => undefined,
          expects: poisoned === undefined ? [] : expectPoison(poisoned),
        });
        const kinds: Record<string, number> = {};
        for (const { kind } of messages) kinds[kind] = (kinds[kind] ?? 0) + 1;
        return { target, sent: messages.length - refused, refused, kinds };
      },
    }),
  ];
}
